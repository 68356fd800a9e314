"""Attacks: pairs of neighbouring inputs, and histograms of the code's outputs for each."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np

from blender_dp.audit.chosen_users import ChosenUsers, Swap, WithOneMore
from blender_dp.core.channels.channel import Channel
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.report import Question
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer, draw_reports
from blender_dp.core.local_alg.paper import privatize_many

_AT_ONCE = 1 << 20
UNRELEASED = np.iinfo(np.int64).min
"""Value of a record that was not released."""


class Attack(Protocol):
    """Two neighbours, and a way to draw from either."""

    @property
    def name(self) -> str:
        """Difference between the two, as shown to people."""
        ...

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Run the code on one neighbour, at least ``draws`` times; count every possible outcome.

        The outcomes have the same order for both neighbours.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneCellReports:
    """LocalAlg for many clients at once, who all hold one of two cells; outcomes are cells."""

    channel: LocalAlgChannel
    cells: tuple[int, int]
    name: str

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Return the number of reports per cell."""
        counts = np.zeros(self.channel.cells.cell_count, dtype=np.int64)
        for start in range(0, draws, _AT_ONCE):
            true = np.full(min(_AT_ONCE, draws - start), self.cells[is_swapped])
            reports = privatize_many(true, self.channel, randomness)
            counts += np.bincount(reports, minlength=len(counts))
        return counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WatchedItems:
    """Reports of many clients at once, who all hold one of two items.

    An outcome is the set of watched items that a report names. The two items are watched, and some
    others.
    """

    channel: Channel
    items: tuple[int, int]
    name: str

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Return the counts of all sets of watched items."""
        watched = _watched(self.items, self.channel.size)
        counts = np.zeros(1 << len(watched), dtype=np.int64)
        for start in range(0, draws, _AT_ONCE):
            true = np.full(min(_AT_ONCE, draws - start), self.items[is_swapped])
            for named in draw_reports(true, self.channel, randomness):
                counts += np.bincount(_codes(named[:, watched]), minlength=len(counts))
        return counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceReports:
    """Reports of one device, drawn singly from records with names, as a real device does."""

    head_list: HeadList
    cells: tuple[int, int]
    name: str

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Return the counts of all answers: the question, and the watched items that are named."""
        cells = self.head_list.cells
        device = LocalRandomizer(self.head_list, randomness=randomness)
        of_cell = (int(cells.query_of_cell[self.cells[0]]), int(cells.query_of_cell[self.cells[1]]))
        watched: dict[Question, list[int]] = {
            "record": _watched(self.cells, cells.cell_count),
            "query": _watched(of_cell, cells.query_count),
        }
        width = max(len(items) for items in watched.values())
        counts = np.zeros(2 << width, dtype=np.int64)
        record = self._record(self.cells[is_swapped])
        for _ in range(draws):
            report = device.report(*record)
            code = sum(
                1 << i for i, at in enumerate(watched[report.question]) if at in report.items
            )
            counts[((report.question == "query") << width) + code] += 1
        return counts

    def _record(self, cell: int) -> tuple[str | None, str | None]:
        """Return a record of a listed cell; no record for ⟨⋆,⋆⟩."""
        listed = self.head_list.cells.listed.tolist()
        return self.head_list.records()[listed.index(cell)] if cell in listed else (None, None)


Release = Callable[[ChosenUsers, Randomness], IntArray]
"""Runs a step on chosen users; returns the value released of every record, or UNRELEASED."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepReleases:
    """A step of the curator on pairs of records between which a user moves."""

    release: Release
    swap: Swap
    edges: tuple[tuple[int, ...], tuple[int, ...]]
    """Bounds that divide the values of either record into outcomes."""
    pairs: int
    """Number of draws per run."""
    name: str

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Return the counts of all pairs of outcomes."""
        first, second = (np.array(edges, dtype=np.int64) for edges in self.edges)
        columns = len(second) + 2
        counts = np.zeros((len(first) + 2) * columns, dtype=np.int64)
        for _ in range(-(-draws // self.pairs)):
            users = self.swap.users(self.pairs, is_swapped=is_swapped)
            values = self.release(users, randomness)
            codes = _binned(values[::2], first) * columns + _binned(values[1::2], second)
            counts += np.bincount(codes, minlength=len(counts))
        return counts


Numbers = Callable[[ChosenUsers, Randomness], Sequence[int]]
"""Runs a step on chosen users; returns the numbers that are attacked."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberReleases:
    """A few numbers that a step releases once; one user adds the most to them, or nothing."""

    release: Numbers
    edges: Sequence[tuple[int, ...]]
    """Bounds that divide each number into outcomes."""
    users: int
    """Number of other users, all with the same record."""
    name: str

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Return the counts of all combinations of outcomes; every draw is a run of the step."""
        shape = tuple(len(edges) + 1 for edges in self.edges)
        counts = np.zeros(shape, dtype=np.int64)
        others = np.array([self.users], dtype=np.int64)
        users = WithOneMore(counts=others, has_all=not is_swapped)
        for _ in range(draws):
            numbers = self.release(users, randomness)
            places = zip(self.edges, numbers, strict=True)
            counts[tuple(bisect_right(edges, number) for edges, number in places)] += 1
        return counts.ravel()


def _binned(values: IntArray, edges: IntArray) -> IntArray:
    """Return 0 if nothing was released, else one more than the number of bounds reached."""
    return np.where(values == UNRELEASED, 0, 1 + np.searchsorted(edges, values, side="right"))


def _watched(two: tuple[int, int], size: int, most: int = 8) -> list[int]:
    """Return the two items and some others, at most ``most`` in all."""
    others = (item for item in range(size) if item not in two)
    return [*dict.fromkeys(two), *islice(others, most - 2)]


def _codes(named: BoolArray) -> IntArray:
    codes: IntArray = named @ (1 << np.arange(named.shape[1]))
    return codes
