"""Reports of a request in packed arrays, checked and ready to be counted."""

from collections.abc import Sequence
from dataclasses import dataclass

from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems

TAG_BYTES = 8
"""Bytes of the tag of a report's id and content."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedReports:
    """Reports of one request, all valid for the list, ready to be counted."""

    ids: bytes
    """16 random bytes per report, one after the other, all different."""
    tags: bytes
    """8 bytes per report, in the same order: keyed tags of ids with contents."""
    answers: Sequence[NamedItems]
    """Items that the reports name, by the question they answer."""

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.ids) // ID_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Outcome of a request's reports."""

    accepted: int
    repeated: int
