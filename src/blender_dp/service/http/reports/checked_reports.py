"""Reports in packed arrays, checked and ready to be counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blender_dp.server.problems import ProblemError
from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems

TAG_BYTES = 8
"""Bytes of the tag of a report's id and content."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedReports:
    """Reports of a request, or several single reports, all valid for the list."""

    ids: bytes
    """16 random bytes per report, one after the other; all different in a request."""
    tags: bytes
    """8 bytes per report, in the same order: keyed tags of ids with contents."""
    answers: Sequence[NamedItems]
    """Items that the reports name, by the question they answer."""
    are_singles: bool = False
    """Whether each came alone: each is counted or refused by itself. Otherwise all or none are."""

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.ids) // ID_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedBodies:
    """Bodies that were checked together, each by itself."""

    singles: CheckedReports
    """All valid single reports, in the order of their bodies."""
    others: Mapping[int, CheckedReports | ProblemError]
    """By position, what is no valid single report: a batch, or why the body is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Outcome of a request's reports."""

    accepted: int
    repeated: int


Outcome = Added | Exception
"""Outcome of one of several requests."""
