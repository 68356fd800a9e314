"""Relayed reports in a release: waited for, decrypted in memory, checked, each id counted once."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from blender_dp.core.head_list.head_list import HeadList
from blender_dp.service.campaign import Campaign
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.failures import Failure, JobError, NotYetError
from blender_dp.service.keys.key_vault import KeyDestroyedError, relayed_reports_key
from blender_dp.service.storage.store import BatchState, RelayedBatch
from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.published.relay_estimates import Outcome, RelayedSide
from blender_dp.wire.relayed.encrypted_report import RefusedRelayedReportError, ReportEncryption
from blender_dp.wire.reports.packed_items import pieces
from blender_dp.wire.reports.service_report import ID_BYTES, ReportFault

_ASKED_AT_ONCE = 10_000
"""Ids that are looked up among the direct reports in one query."""


async def relayed_side(
    dependencies: Dependencies, campaign: Campaign, head_list: HeadList
) -> RelayedSide | None:
    """Return what the relay clients reported; None without a relay.

    Raises:
        NotYetError: The batch may still come.
    """
    if campaign.relay is None:
        return None
    batch, least = await _settled_batch(dependencies, campaign), campaign.relay.least_batch
    if batch.state is BatchState.DESTROYED:
        return RelayedSide(
            outcome=Outcome.DESTROYED,
            least_batch=least,
            stated=batch.stated,
            statement=_digest_of_statement(batch),
        )
    if batch.state is not BatchState.COMPLETE:
        return RelayedSide(outcome=Outcome.ABSENT, least_batch=least)
    reports = await _open(dependencies, campaign, head_list, batch)
    return _side(reports, batch, campaign.relay, head_list)


async def _settled_batch(dependencies: Dependencies, campaign: Campaign) -> RelayedBatch:
    """Return a batch about which all is known, or wait until the campaign's rule says no longer."""
    batch = await dependencies.store.relayed_batch(campaign.id)
    if batch is not None and batch.state is not BatchState.WAITING:
        return batch
    until = campaign.relay_awaited_until
    if until is not None and dependencies.now() < until:
        raise NotYetError
    return await dependencies.store.give_up_relayed_batch(campaign.id)


@dataclass(slots=True)
class _OpenedReports:
    """Decrypted reports: ids, one after the other, and the cell that each names."""

    ids: bytearray = field(default_factory=bytearray)
    cells: list[int] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def open(self, encrypted: bytes, encryption: ReportEncryption, key: X25519PrivateKey) -> None:
        """Add the reports of a piece; those that are not for this list are only counted."""
        for one in pieces(encrypted, encryption.length):
            try:
                report = encryption.decrypt(one, key)
            except RefusedRelayedReportError as refusal:
                self.refused[str(refusal.fault)] += 1
            else:
                self.ids += report.report_id
                self.cells.append(report.cell)

    def first_of_each_id(self) -> "_OpenedReports":
        """Return the reports without those whose id came before."""
        ids = np.frombuffer(bytes(self.ids), dtype=f"V{ID_BYTES}")
        first = np.sort(np.unique(ids, return_index=True)[1])
        return self._only(first)

    def without(self, known: set[bytes]) -> "_OpenedReports":
        """Return the reports whose id no direct report has."""
        if not known:
            return self
        ids = pieces(bytes(self.ids), ID_BYTES)
        return self._only(np.array([i for i, one in enumerate(ids) if one not in known], np.intp))

    def _only(self, kept: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> "_OpenedReports":
        ids = np.frombuffer(bytes(self.ids), dtype=f"V{ID_BYTES}")[kept]
        refused = Counter(self.refused)
        if repeated := len(self.cells) - len(kept):
            refused[str(ReportFault.REPEATED_ID)] += repeated
        cells = np.array(self.cells, dtype=np.int64)[kept].tolist()
        return _OpenedReports(ids=bytearray(ids.tobytes()), cells=cells, refused=refused)


async def _open(
    dependencies: Dependencies, campaign: Campaign, head_list: HeadList, batch: RelayedBatch
) -> _OpenedReports:
    """Decrypt a batch, in memory only, and keep each id once."""
    try:
        key = relayed_reports_key(dependencies.keys, campaign.id)
    except KeyDestroyedError:
        raise JobError(Failure.KEY_DESTROYED) from None
    digest = head_list_digest(head_list)
    encryption = ReportEncryption(head_list, campaign=campaign.id, digest=digest)
    opened = _OpenedReports()
    for piece in batch.pieces:
        encrypted = await dependencies.store.relayed_piece(campaign.id, piece)
        await asyncio.to_thread(opened.open, encrypted, encryption, key)
    opened = await asyncio.to_thread(opened.first_of_each_id)
    known = await _ids_of_direct_reports(dependencies, campaign.id, bytes(opened.ids))
    return opened.without(known)


async def _ids_of_direct_reports(
    dependencies: Dependencies, campaign_id: UUID, ids: bytes
) -> set[bytes]:
    """Return the ids that a direct report of the campaign has too: nobody is in two groups."""
    known: set[bytes] = set()
    for some in pieces(ids, _ASKED_AT_ONCE * ID_BYTES):
        known |= await dependencies.store.known_report_ids(campaign_id, some)
    return known


def _side(
    reports: _OpenedReports, batch: RelayedBatch, relay: CampaignRelay, head_list: HeadList
) -> RelayedSide:
    valid = len(reports.cells)
    cells = np.bincount(reports.cells, minlength=head_list.cells.cell_count).astype(np.int64)
    is_enough = valid >= relay.least_batch
    return RelayedSide(
        outcome=Outcome.COUNTED if is_enough else Outcome.TOO_FEW,
        least_batch=relay.least_batch,
        stated=batch.stated,
        statement=_digest_of_statement(batch),
        received=batch.stated or 0,
        valid=valid,
        refused=dict(sorted(reports.refused.items())),
        cells=cells if is_enough else None,
    )


def _digest_of_statement(batch: RelayedBatch) -> str | None:
    """Return the digest of the relay's statement, as the public log has it."""
    return None if batch.signed is None else digest_of_bytes(canonical(batch.signed["statement"]))
