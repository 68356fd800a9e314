"""Subset selection on a device: every subset as likely as stated, exactly; and many at once.

The device's law is found by walking through all of its draws; what sampling tests is only the
vectorised form. Each statistical assertion raises a false alarm with probability at most 1e-9.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from core.fig_6_by_hand import WORD
from core.subset_law_by_hand import Subset, law
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.public_coin import asked_for_query
from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg import sharp
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.local_alg.sharp import choose_subset, choose_subsets
from exact_tests import assert_frequencies, assert_sample_catches

N = 60_000


def channel_of(size: int, d: int, p_in: Fraction = Fraction(5, 8)) -> SubsetChannel:
    """Return a channel of any d, not only the best one."""
    return SubsetChannel(size=size, subset_size=d, threshold=int(p_in * WORD))


class Walk:
    """Draws that follow one path through everything that could be drawn, with its probability."""

    def __init__(self, threshold: int, path: list[int]) -> None:
        self.threshold, self.path = threshold, path
        self.widths: list[int] = []
        self.probability = Fraction(1)

    def bits(self, count: int) -> int:
        """Return the last word that tells the truth, or the first that does not."""
        assert count == 64
        told = Fraction(self.threshold, WORD)
        branch = self._step(2)
        self.probability *= told if branch == 0 else 1 - told
        return self.threshold - 1 + branch

    def below(self, bound: int) -> int:
        self.probability /= bound
        return self._step(bound)

    def _step(self, width: int) -> int:
        self.widths.append(width)
        if len(self.widths) > len(self.path):
            self.path.append(0)
        return self.path[len(self.widths) - 1]


def walks(item: int, channel: SubsetChannel) -> Iterator[tuple[Subset, Fraction]]:
    """Yield the outcome and probability of every path, each path once."""
    path: list[int] = []
    while True:
        walk = Walk(channel.threshold, path)
        yield choose_subset(item, channel, cast("Randomness", walk)), walk.probability
        while path and path[-1] == walk.widths[len(path) - 1] - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1


SHAPES = [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4), (6, 3), (7, 2)]


@pytest.mark.parametrize(("size", "d"), SHAPES)
def test_every_report_is_exactly_as_likely_as_stated(size: int, d: int) -> None:
    channel = channel_of(size, d)
    for item in range(size):
        found: dict[Subset, Fraction] = {}
        for subset, p in walks(item, channel):
            found[subset] = found.get(subset, Fraction(0)) + p
        assert found == law(size, d, Fraction(5, 8), item)


def test_a_position_drawn_twice_that_is_drawn_again_would_be_caught() -> None:
    """Twin: instead of giving way to the newest position, the walk keeps the larger neighbour."""

    def careless(draws: tuple[int, int]) -> Subset:
        first, second = draws
        return tuple(sorted({first, second if second != first else (first + 1) % 3}))

    found = Counter(careless((a, b)) for a in range(2) for b in range(3))
    assert len(set(found.values())) > 1  # not uniform over the 2-subsets of 3


@given(
    size=st.integers(1, 400),
    epsilon=st.fractions(Fraction(1, 10), Fraction(10)),
    item=st.integers(0, 399),
    draw=st.integers(0, 10**6),
)
def test_a_report_names_d_items_in_increasing_order(
    size: int, epsilon: Fraction, item: int, draw: int
) -> None:
    channel, item = SubsetChannel.of(size, epsilon), item % size
    named = choose_subset(item, channel, Randomness.seeded(draw))
    assert len(named) == channel.subset_size
    assert list(named) == sorted(set(named))
    assert 0 <= named[0] <= named[-1] < size


def all_at_once(item: int, channel: SubsetChannel, seed: int) -> Counter[Subset]:
    blocks = choose_subsets(np.full(N, item), channel, Randomness.seeded(seed))
    rows = (row for block in blocks for row in block.tolist())
    return Counter(tuple(x for x, is_named in enumerate(row) if is_named) for row in rows)


def stated(channel: SubsetChannel, item: int) -> dict[Subset, float]:
    exact = law(channel.size, channel.subset_size, channel.exact_pin, item)
    return {subset: float(p) for subset, p in exact.items()}


@pytest.mark.parametrize(
    ("size", "d"),
    [(2, 1), (4, 3), (6, 3), (7, 2), (4, 1), (16, 2), (13, 2), (19, 3)],
)
@pytest.mark.parametrize("place", [0, 1, -1])
def test_many_clients_report_as_stated(size: int, d: int, place: int, seed: int) -> None:
    channel, item = channel_of(size, d), range(size)[place]
    assert_frequencies(all_at_once(item, channel, seed), stated(channel, item))


@pytest.mark.parametrize("error", [Fraction(4, 5), Fraction(6, 5)])
def test_a_threshold_a_fifth_off_is_caught(error: Fraction, seed: int) -> None:
    channel, off = channel_of(6, 3), channel_of(6, 3, Fraction(5, 8) * error)
    assert_sample_catches(N, stated(channel, 1), stated(off, 1))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(all_at_once(1, off, seed), stated(channel, 1))


def test_clients_of_different_items_are_not_mixed_up(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With next to no lies each client of several blocks names its own item."""
    monkeypatch.setattr(sharp, "_BLOCK_BYTES", 1000)
    channel = SubsetChannel(size=6, subset_size=2, threshold=WORD - 1)
    items = np.arange(2000) % 6
    named = np.concatenate(list(choose_subsets(items, channel, Randomness.seeded(seed))))
    assert named.shape == (2000, 6)
    assert named[np.arange(2000), items].all()
    assert (named.sum(axis=1) == 2).all()


def test_blocks_hold_everybody_once_and_nobody_is_no_block() -> None:
    channel, randomness = SubsetChannel.of(3000, Fraction(4)), Randomness.seeded(1)
    sizes = [len(block) for block in choose_subsets(np.zeros(1500, int), channel, randomness)]
    assert sum(sizes) == 1500
    assert len(sizes) > 1
    assert list(choose_subsets(np.zeros(0, int), channel, randomness)) == []


def test_with_only_the_star_everybody_names_it(seed: int) -> None:
    only, randomness = SubsetChannel.of(1, Fraction(1)), Randomness.seeded(seed)
    assert choose_subset(0, only, randomness) == (0,)
    (block,) = choose_subsets(np.zeros(3, dtype=np.int64), only, randomness)
    assert block.tolist() == [[True]] * 3


TRUTHFUL = SubsetSelectionMechanism(epsilon=1e6, query_share=0.5)
"""So large an ε that a report is the truth but once in 2^63: folding can be read off it."""
HEAD_LIST = HeadList.of(
    [Record("news", "n.example"), Record("weather", "a.example"), Record("weather", "b.example")],
    mechanism=TRUTHFUL,
    private=True,
)
IDS = {
    asked: next(f"{i}" for i in range(99) if asked_for_query(f"{i}", 0.5) is asked)
    for asked in (True, False)
}


@pytest.mark.parametrize(
    ("record", "cell", "query"),
    [
        (("news", "n.example"), 0, 0),
        (("news", "other.example"), 1, 0),
        (("weather", "b.example"), 3, 1),
        (("weather", "*"), 4, 1),
        (("⋆", "⋆"), 5, 2),
        ((None, None), 5, 2),
    ],
)
def test_a_device_answers_the_question_that_its_id_decides(
    record: tuple[str | None, str | None], cell: int, query: int
) -> None:
    for_record = LocalRandomizer(HEAD_LIST, campaign_id=IDS[False]).report(*record)
    for_query = LocalRandomizer(HEAD_LIST, campaign_id=IDS[True]).report(*record)
    assert for_record == Report(question="record", items=(cell,))
    assert for_query == Report(question="query", items=(query,))


def test_a_device_without_an_id_answers_either() -> None:
    """Missing one of the two in 200 fair coins: once in 2^199."""
    device = LocalRandomizer(HEAD_LIST)
    asked = {device.report("news", "n.example").question for _ in range(200)}
    assert asked == {"record", "query"}
