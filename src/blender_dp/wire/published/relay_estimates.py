"""Document of the relay's side of a release: ``relay_estimates.json``, version 1.

It says what became of the relay's batch: how many reports the relay states, how many arrived, how
many were counted, and why others were not. If the batch is used it has the number of reports per
cell, from which the estimates of relay clients are computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from blender_dp.core.errors import HeadListMismatchError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts, ReportingClients
from blender_dp.wire.documents.document import verified, with_digest
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.service.hash_chain import is_digest

RELAY_FORMAT = "blender-dp relay estimates"


class Outcome(StrEnum):
    """What became of a relay's batch."""

    COUNTED = "counted"
    TOO_FEW = "too-few"
    """Fewer reports were valid than a batch must have."""
    DESTROYED = "destroyed"
    """The relay states that it destroyed its reports: it had too few, or none."""
    ABSENT = "absent"
    """No batch was complete in time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelayedSide:
    """What a release says of the reports that went through a relay."""

    outcome: Outcome
    least_batch: int
    """Reports that a batch must have, by the head list."""
    stated: int | None = None
    """Number of reports by the relay's statement; None if the relay said nothing."""
    statement: str | None = None
    """Digest of that statement, which is in the public log."""
    received: int = 0
    valid: int = 0
    """Number of reports that could be counted."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Number of reports that are not counted, by reason."""
    cells: IntArray | None = None
    """Number of reports per cell; None if the batch is not used."""

    @property
    def counted(self) -> int:
        """Number of reports that the release counts."""
        return 0 if self.cells is None else int(self.cells.sum())

    def clients(self, head_list: HeadList) -> ReportingClients | None:
        """Return the relay clients of the list; None if their batch is not used."""
        if self.cells is None:
            return None
        counts = ReportCounts.one_cell_each(self.cells, head_list.cells)
        return ReportingClients(counts=counts, records_per_client=1)

    def summary(self) -> dict[str, Any]:
        """Return what the release itself says of the batch."""
        return {
            "outcome": str(self.outcome),
            "stated": self.stated,
            "statement": self.statement,
            "received": self.received,
            "counted": self.counted,
            "refused": dict(self.refused),
            "sentence": self.sentence,
        }

    @property
    def sentence(self) -> str:
        """What became of the batch, for readers."""
        without = "so no relay client is in the result."
        if self.outcome is Outcome.COUNTED:
            refused = sum(self.refused.values())
            return (
                f"The relay passed on {self.received:,} reports: {self.counted:,} are counted and "
                f"{refused:,} were refused."
            )
        if self.outcome is Outcome.TOO_FEW:
            return (
                f"The relay passed on {self.received:,} reports, of which {self.valid:,} are "
                f"valid, fewer than a batch must have, {without} Their senders may have ε0 only."
            )
        if self.outcome is Outcome.DESTROYED:
            return f"{self._destroyed}, {without}"
        return f"No whole batch of the relay arrived in time, {without}"

    @property
    def _destroyed(self) -> str:
        """What the relay did with its reports when it passed on none."""
        stated = self.stated or 0
        if not stated:
            return "No report came to the relay"
        if stated < self.least_batch:
            why = "which were too few to hide each other"
        else:
            why = "though they were enough for a batch"
        return f"The relay destroyed the {stated:,} reports that it had, {why}"


def relay_document(head_list: HeadList, side: RelayedSide) -> dict[str, Any]:
    """Return the document of the relay's side."""
    return with_digest(
        {
            "format": RELAY_FORMAT,
            "version": 1,
            "private": head_list.private,
            "head_list": head_list_digest(head_list),
            "outcome": str(side.outcome),
            "stated": side.stated,
            "statement": side.statement,
            "received": side.received,
            "valid": side.valid,
            "refused": dict(side.refused),
            "report_counts": None if side.cells is None else side.cells.tolist(),
        }
    )


def relayed_in(source: str, document: Mapping[str, Any], head_list: HeadList) -> RelayedSide:
    """Return the relay's side in a document that came from ``source``; refuse a wrong one."""
    fields = verified(source, document, RELAY_FORMAT)
    if not fields.names("head_list", head_list_digest(head_list)):
        raise HeadListMismatchError(f"{fields.path}: belongs to another head list")
    if fields.text("outcome") not in list(Outcome):
        fields.refuse("outcome", f"must be one of {', '.join(Outcome)}")
    refused = fields.part("refused")
    side = RelayedSide(
        outcome=Outcome(fields.text("outcome")),
        least_batch=0 if head_list.relay is None else head_list.relay.least_batch,
        stated=fields.whole_or_none("stated", at_least=0),
        statement=_statement(fields),
        received=fields.whole("received", at_least=0),
        valid=fields.whole("valid", at_least=0),
        refused={name: refused.whole(name, at_least=1) for name in document["refused"]},
        cells=_cells(fields, head_list),
    )
    _require_sums(fields, side)
    return side


def _statement(fields: Fields) -> str | None:
    digest = fields.value("statement")
    if digest is not None and not is_digest(digest):
        fields.refuse("statement", "must be null or a digest")
    return None if digest is None else str(digest)


def _cells(fields: Fields, head_list: HeadList) -> IntArray | None:
    if fields.value("report_counts") is None:
        return None
    counts = fields.counts("report_counts", head_list.cells.cell_count)
    if (counts < 0).any():
        fields.refuse("report_counts", "must be 0 or more")
    return counts


def _require_sums(fields: Fields, side: RelayedSide) -> None:
    """Refuse numbers that contradict each other."""
    is_used = side.outcome is Outcome.COUNTED
    if (side.cells is not None) != is_used or (is_used and side.counted != side.valid):
        fields.refuse("report_counts", "must have every valid report once if they are counted")
    if side.valid + sum(side.refused.values()) != side.received:
        fields.refuse("received", "must be the valid reports and the refused ones")
    if side.received not in (0, side.stated):
        fields.refuse("received", "must be 0 or all that the relay states")
