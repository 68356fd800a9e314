"""Tables of many clients: every row has d items, and the three ways to draw them are uniform.

``test_sharp.py`` compares each way with the stated distribution; here are its invariants and its
twins. Each statistical assertion raises a false alarm with probability at most 1e-9.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from core.fig_6_by_hand import WORD
from core.subset_law_by_hand import Subset, law
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.local_alg.many_subsets import SubsetTables, _count
from exact_tests import assert_frequencies, assert_sample_catches

CLIENTS = 60_000


@settings(max_examples=60)
@given(
    shape=st.integers(2, 700).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1))),
    names_truth=st.booleans(),
    seed=st.integers(0, 10**6),
)
@example(shape=(126, 2), names_truth=False, seed=1)  # few items, drawn together
@example(shape=(1251, 22), names_truth=False, seed=1)  # the first items are drawn at once
@example(shape=(126, 34), names_truth=True, seed=1)  # a coin for every item
@example(shape=(5000, 1400), names_truth=False, seed=1)  # rows that are counted in pieces
def test_every_row_names_d_items_and_the_truth_if_it_should(
    shape: tuple[int, int], names_truth: bool, seed: int
) -> None:
    size, d = shape
    threshold = WORD - 1 if names_truth else 1  # the other happens once in 2^64
    channel = SubsetChannel(size=size, subset_size=d, threshold=threshold)
    own = np.random.default_rng(seed).integers(0, size, 40)
    tables = SubsetTables(channel, 40, Randomness.seeded(seed))
    for clients in (40, 7, 0):  # the same memory serves a smaller table
        table = tables.draw(own[:clients])
        assert table.shape == (clients, size)
        assert (table.sum(axis=1) == d).all()
        assert (table[np.arange(clients), own[:clients]] == names_truth).all()


def test_clients_that_miss_more_items_than_a_byte_tells_apart_get_new_ones() -> None:
    channel = SubsetChannel(size=1600, subset_size=500, threshold=WORD // 2)
    tables = SubsetTables(channel, 3, Randomness.seeded(1))
    table = np.zeros((3, 1600), dtype=np.bool_)
    table[:, ::2] = True
    tables._complete(table.reshape(-1), np.arange(3) * 1600, np.array([600, 0, 257]))
    assert table.sum(axis=1).tolist() == [1400, 800, 1057]
    assert table[:, ::2].all()


@given(words=st.integers(1, 700), rows=st.integers(0, 4), share=st.floats(0, 1))
@example(words=255, rows=2, share=1.0)
@example(words=256, rows=2, share=1.0)
def test_bytes_are_counted_in_rows_of_any_length(words: int, rows: int, share: float) -> None:
    table = np.random.default_rng(words).random((rows, 8 * words)) < share
    assert _count(table.view(np.uint64)).tolist() == table.sum(axis=1).tolist()


SIZE, D, PIN = 6, 3, Fraction(5, 8)
CHANNEL = SubsetChannel(size=SIZE, subset_size=D, threshold=int(PIN * WORD))


class Trimmed(SubsetTables):
    """Twin: a client that tosses too many drops its last ones, in place of tossing again."""

    def _toss(self, own: IntArray, wanted: IntArray) -> tuple[BoolArray, IntArray]:
        table = self._toss_rows(own)
        missing = wanted - table.sum(axis=1)
        for column in reversed(range(SIZE)):
            drop = (missing < 0) & table[:, column] & (own != column)
            table[drop, column] = False
            missing += drop
        return table, missing


def trimmed_law(item: int) -> dict[Subset, float]:
    """Enumerate what the twin draws: all tosses, and all ways to complete them."""
    coin = float(SubsetTables(CHANNEL, 1, Randomness.seeded(0))._coins[0, 0]) / 256
    others = [x for x in range(SIZE) if x != item]
    found: Counter[Subset] = Counter()
    for told, share in ((True, float(PIN)), (False, 1 - float(PIN))):
        wanted = D - told
        for n in range(SIZE):
            for tossed in combinations(others, n):
                kept = tossed[:wanted]
                rest = [x for x in others if x not in kept]
                p = share * coin**n * (1 - coin) ** (SIZE - 1 - n)
                for more in combinations(rest, wanted - len(kept)):
                    subset = tuple(sorted((*kept, *more, *([item] * told))))
                    found[subset] += p / comb(len(rest), len(more))  # type: ignore[assignment]  # a float
    return dict(found)


def drawn(tables: SubsetTables, item: int) -> Counter[Subset]:
    table = tables.draw(np.full(CLIENTS, item))
    return Counter(tuple(np.flatnonzero(row).tolist()) for row in table)


def test_dropping_the_last_items_of_a_toss_is_caught(seed: int) -> None:
    stated = {subset: float(p) for subset, p in law(SIZE, D, PIN, 1).items()}
    assert_sample_catches(CLIENTS, stated, trimmed_law(1))
    twin = drawn(Trimmed(CHANNEL, CLIENTS, Randomness.seeded(seed)), 1)
    assert_frequencies(twin, trimmed_law(1))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(twin, stated)
    assert_frequencies(drawn(SubsetTables(CHANNEL, CLIENTS, Randomness.seeded(seed)), 1), stated)
