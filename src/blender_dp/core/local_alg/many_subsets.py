"""Subset selection of many clients at once: tables with one row per client.

Each row has the distribution of ``choose_subset``; PRIVACY.md beside this file says why. Clients
that name few of many items draw them together, and again if two are equal. All others start with
their own item, or with a coin for every item, and draw items until they have enough different ones.

Privacy: ε in the local model, one row per client; see PRIVACY.md.
"""

import math

import numpy as np
import numpy.typing as npt

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import HalfWordArray, Randomness, WordArray
from blender_dp.core.head_list.cells import BoolArray, IntArray

_MOST_OF_FEW = 8
"""From more items on, comparing all pairs takes longer than counting."""
_COIN_BYTES = 1 << 16
"""Random bytes drawn at once: they stay in the processor's cache until they are compared."""
_MOST_WORDS = 255
"""A byte holds the sum of this many others that are 0 or 1."""
_MOST_MARKS = 256
"""A byte tells this many items of one client apart."""


class SubsetTables:
    """Draws tables of named items, one row per client, for one channel."""

    def __init__(self, channel: SubsetChannel, rows: int, randomness: Randomness) -> None:
        """Prepare tables of at most ``rows`` clients."""
        n, d = channel.size, channel.subset_size
        self._channel, self._randomness = channel, randomness
        self._is_few = d <= _MOST_OF_FEW and 4 * d * d <= n
        self._width = n if self._is_few else -(-n // 8) * 8  # whole words, to be counted by words
        self._start = np.arange(0, rows * self._width, self._width)
        self._coins = _coins(n, d, self._width)
        self._last_mark = np.empty(0 if self._is_few else rows * self._width, dtype=np.uint8)

    def draw(self, own: IntArray) -> BoolArray:
        """Return the items that clients name whose true items are ``own``."""
        if self._channel.size == 1:
            return np.ones((len(own), 1), dtype=np.bool_)
        words = self._randomness.words(len(own))
        names_truth: BoolArray = words < np.uint64(self._channel.threshold)
        if self._is_few:
            return self._draw_few(own, names_truth)
        return self._draw_many(own, names_truth)

    def _draw_few(self, own: IntArray, names_truth: BoolArray) -> BoolArray:
        """Draw all items of a client, again and again until they are distinct others."""
        truth = own.astype(np.uint32)
        items, fail = self._draw_columns(truth, names_truth)
        again = np.flatnonzero(fail)
        while again.size:
            items[:, again], fail = self._draw_columns(truth[again], names_truth[again])
            again = again[fail]
        table = np.zeros((len(own), self._width), dtype=np.bool_)
        table.reshape(-1)[(items + self._start[: len(own)]).reshape(-1)] = True
        return table

    def _draw_columns(
        self, own: HalfWordArray, names_truth: BoolArray
    ) -> tuple[HalfWordArray, BoolArray]:
        """Return a column of items for each client, and whether they are not distinct others.

        The last item of a client that names the truth is the truth.
        """
        d = self._channel.subset_size
        items = self._draw_items(d * len(own)).reshape(d, len(own))
        *others, last = items
        last += (own - last) * names_truth
        fail: BoolArray = (last == own) > names_truth
        for i, item in enumerate(others):
            fail |= item == own
            for later in items[i + 1 :]:
                fail |= item == later
        return items, fail

    def _draw_items(self, count: int) -> HalfWordArray:
        return self._randomness.small_below_many(self._channel.size, count)

    def _draw_many(self, own: IntArray, names_truth: BoolArray) -> BoolArray:
        """Name items until each client has its own and enough others.

        Its own is dropped at the end, unless the client names the truth.
        """
        d, clients = self._channel.subset_size, len(own)
        start = self._start[:clients]
        truth, wanted = start + own, d + 1 - names_truth.astype(np.int64)
        if not self._coins.size:
            table = np.zeros((clients, self._width), dtype=np.bool_)
            flat = table.reshape(-1)
            flat[truth] = True
            draws = self._draw_items((d - 1) * clients)
            places = (draws.reshape(d - 1, clients) + start).reshape(-1)
        else:
            table, missing = self._toss(own, wanted)
            flat = table.reshape(-1)
            places = np.repeat(start, missing)
            places += self._draw_items(len(places))
        flat[places] = True
        self._complete(flat, start, wanted - _count(table.view(np.uint64)))
        flat[truth] = names_truth
        return table[:, : self._channel.size]

    def _toss(self, own: IntArray, wanted: IntArray) -> tuple[BoolArray, IntArray]:
        """Name every item by a coin; return the table and the number that each client misses.

        A client with too many items tosses once more, and if too many again, keeps its own only.
        """
        table = self._toss_rows(own)
        missing = wanted - _count(table.view(np.uint64))
        again = np.flatnonzero(missing < 0)
        rows = self._toss_rows(own[again])
        left = wanted[again] - _count(rows.view(np.uint64))
        over = np.flatnonzero(left < 0)
        rows[over] = False
        rows[over, own[again[over]]] = True
        left[over] = wanted[again[over]] - 1
        table[again], missing[again] = rows, left
        return table, missing

    def _toss_rows(self, own: IntArray) -> BoolArray:
        """Return rows in which every item but the client's own is named by a coin."""
        table = np.empty((len(own), self._width), dtype=np.bool_)
        for start in range(0, len(own), len(self._coins)):
            rows = table[start : start + len(self._coins)]
            tossed = np.frombuffer(self._randomness.draw_bytes(rows.size), dtype=np.uint8)
            np.less(tossed.reshape(rows.shape), self._coins[: len(rows)], out=rows)
        table.reshape(-1)[self._start[: len(own)] + own] = True
        return table

    def _complete(self, flat: BoolArray, start: IntArray, missing: IntArray) -> None:
        """Name as many more items as each client misses, each of them a new one."""
        while missing.any():
            some = np.minimum(missing, _MOST_MARKS)
            self._name_new(flat, np.repeat(start, some))
            missing = missing - some

    def _name_new(self, flat: BoolArray, starts: IntArray) -> None:
        """Name a new item for each entry of ``starts``; those of a client follow one another.

        Two entries of a client may draw the same item: the mark that is left there tells which of
        them has named it.
        """
        all_marks = np.arange(len(starts)).astype(np.uint8)
        while starts.size:
            places, marks = starts + self._draw_items(len(starts)), all_marks[: len(starts)]
            fail = flat.take(places)
            flat[places] = True
            self._last_mark[places] = marks
            fail |= self._last_mark.take(places) != marks  # another entry has drawn this place too
            starts = starts.take(np.flatnonzero(fail))


def _coins(n: int, d: int, width: int) -> npt.NDArray[np.uint8]:
    """Return what a random byte must be below to name an item, for some rows; empty without coins.

    A row with too many items is tossed again, and one with too few gets more. So the coins aim at
    √d·4/5 items too few, and one row in five has too many. They decide on the time only.
    """
    if 6 * d < n:
        return np.empty((0, width), dtype=np.uint8)
    coins = np.zeros((max(_COIN_BYTES // width, 1), width), dtype=np.uint8)
    coins[:, :n] = 256 * (10 * d - math.isqrt(64 * d)) // (10 * n)
    return coins


def _count(words: WordArray) -> IntArray:
    """Return how many bytes of each row are 1; all others are 0."""
    counts = np.zeros(len(words), dtype=np.uint64)
    for start in range(0, words.shape[1], _MOST_WORDS):
        sums = np.einsum("ij->i", words[:, start : start + _MOST_WORDS])  # eight, a byte each
        pairs = (sums & _EVEN_BYTES) + (sums >> np.uint64(8) & _EVEN_BYTES)
        counts += pairs * _ONE_IN_TWO_BYTES >> np.uint64(48)  # the product's top has all four
    return counts.view(np.int64)


_EVEN_BYTES, _ONE_IN_TWO_BYTES = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)
