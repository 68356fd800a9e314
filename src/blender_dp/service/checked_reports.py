"""The reports of a request as they are counted: packed, so that many cost little more than one."""

from collections.abc import Sequence
from dataclasses import dataclass

from blender_dp.core.cells import IntArray
from blender_dp.core.report import Question
from blender_dp.wire.service_report import ID_BYTES

TAG_BYTES = 8
"""Of a report's content."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedReports:
    """Reports of one request, all expressible in the list, as they are counted."""

    ids: bytes
    """16 random bytes a report, one after the other, none twice."""
    tags: bytes
    """8 bytes a report, in the same order: keyed tags of the contents."""
    answers: Sequence["Answers"]
    """What they name, by the question they answer."""

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.ids) // ID_BYTES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The reports of a request that answer one question; each names equally many items."""

    question: Question
    reports: IntArray
    """Their positions among the request's ids."""
    items: IntArray
    """A row a report: cells, or queries if asked for the query only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a request's reports."""

    accepted: int
    repeated: int
