"""Reports of a request in packed arrays, checked and ready to be counted."""

from collections.abc import Sequence
from dataclasses import dataclass

from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems

TAG_BYTES = 8
"""Of a report's id and content."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedReports:
    """Reports of one request, all expressible in the list, as they are counted."""

    ids: bytes
    """16 random bytes a report, one after the other, none twice."""
    tags: bytes
    """8 bytes a report, in the same order: keyed tags of ids with contents."""
    answers: Sequence[NamedItems]
    """What they name, by the question they answer."""

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.ids) // ID_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a request's reports."""

    accepted: int
    repeated: int
