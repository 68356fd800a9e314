"""Index of queries by the beginnings of their words, with the most popular matches first.

Every query has one entry per word: its folded text from that word on. The entries are sorted, so
that those with a given beginning are neighbours, found by bisection. A table holds the best entry
of every run whose length is a power of two, and gives the best entry of any run in two lookups.
Removing that entry leaves two shorter runs. Finding the k best takes k such steps, whatever the
length of the run.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from blender_dp.local_search.folding import fold, word_starts

Run = tuple[int, int]
"""Range of neighbouring entries: first index, and the index after the last."""
_SHORT = 48
"""Longest run that is sorted, which is faster than using the table."""


class PrefixIndex:
    """Index over texts in order of popularity; a text is named by its position."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Enter every text.

        Args:
            texts: Any strings, the most popular first.
        """
        entries = sorted(
            # The space at the end lets "new " find "new york" and "new", but not "news".
            (folded[start:] + " ", position)
            for position, folded in enumerate(map(fold, texts))
            for start in word_starts(folded)
        )
        self.entries = [entry for entry, _ in entries]
        self._positions = [position for _, position in entries]
        self._best = _best_of_powers(self._positions)

    def run(self, beginning: str) -> Run:
        """Return the entries that start with these folded characters."""
        if not beginning:
            return 0, len(self.entries)
        first = bisect_left(self.entries, beginning)
        beyond = beginning[:-1] + chr(ord(beginning[-1]) + 1)
        return first, bisect_left(self.entries, beyond, first)

    def best(self, runs: Iterable[Run], most: int) -> list[int]:
        """Return the positions of the most popular texts in any of these runs, in order."""
        runs = [run for run in runs if run[0] < run[1]]
        if sum(last - first for first, last in runs) <= _SHORT:
            found = {p for first, last in runs for p in self._positions[first:last]}
            return sorted(found)[:most]
        return self._best_of_long(runs, most)

    def _best_of_long(self, runs: Iterable[Run], most: int) -> list[int]:
        waiting = [(*self._best_of(first, last), first, last) for first, last in runs]
        heapify(waiting)
        found: list[int] = []
        while waiting and len(found) < most:
            position, at, first, last = heappop(waiting)
            if not found or position != found[-1]:
                found.append(position)
            for left, right in ((first, at), (at + 1, last)):
                if left < right:
                    heappush(waiting, (*self._best_of(left, right), left, right))
        return found

    def _best_of(self, first: int, last: int) -> tuple[int, int]:
        """Return the most popular text of a run, and the index of its entry."""
        power = (last - first).bit_length() - 1
        best = self._best[power]
        code = min(best[first], best[last - (1 << power)])
        return divmod(code, len(self.entries))


def _best_of_powers(positions: Sequence[int]) -> list[Sequence[int]]:
    """Return for each power of two and each index the best of that many entries from there.

    Position and place share one integer, so that one comparison orders by both.
    """
    count = len(positions)
    level = np.array(positions, dtype=np.int64) * count + np.arange(count)
    levels: list[Sequence[int]] = [
        level.data
    ]  # faster to read than an array and faster to make than a list
    width = 1
    while 2 * width <= count:
        level = np.minimum(level[:-width], level[width:])
        levels.append(level.data)
        width *= 2
    return levels
