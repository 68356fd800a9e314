"""Counts drawn for all clients at once have the joint law of clients drawn one by one.

Few clients are enumerated, so that variances and covariances are tested and not only means; many
are compared with the per-client draw. Both kinds of coins run: secure integers for people and
numpy's for evaluations. False alarm: 1e-9 for each assertion, exact (``exact_tests``).
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from core.fig_6_by_hand import WORD
from core.subset_law_by_hand import Counts, joint_law
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.local_alg.sharp import choose_subsets, subset_counts
from blender_dp.evaluation.trials.counted_reports import subset_counts_from_cell_counts
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

DRAWS = 1_500
PIN = Fraction(7, 8)
Draw = Callable[[IntArray, SubsetChannel], IntArray]
Sources = dict[str, Draw]


def sources(seed: int) -> Sources:
    secure, fast = Randomness.seeded(seed), np.random.default_rng(seed)
    return {
        "secure": lambda true, channel: subset_counts(true, channel, secure),
        "fast": lambda true, channel: subset_counts_from_cell_counts(true, channel, fast),
    }


def channel_of(size: int, d: int, p_in: Fraction = PIN) -> SubsetChannel:
    return SubsetChannel(size=size, subset_size=d, threshold=int(p_in * WORD))


CASES: list[tuple[int, int, Counts]] = [
    (2, 1, (2, 1)),
    (3, 1, (0, 2, 1)),
    (3, 2, (2, 0, 1)),
    (4, 2, (1, 1, 0, 0)),
    (4, 3, (0, 1, 0, 1)),
    (5, 2, (0, 2, 0, 0, 0)),
]


@pytest.mark.parametrize("source", ["secure", "fast"])
@pytest.mark.parametrize(("size", "d", "true_counts"), CASES)
def test_the_joint_law_of_few_clients_is_the_enumerated_one(
    source: str, size: int, d: int, true_counts: Counts, seed: int
) -> None:
    draw, true = sources(seed)[source], np.array(true_counts)
    drawn = Counter(tuple(draw(true, channel_of(size, d)).tolist()) for _ in range(DRAWS))
    assert_frequencies(drawn, joint_law(size, d, PIN, true_counts))


@pytest.mark.parametrize("source", ["secure", "fast"])
def test_another_threshold_is_caught(source: str, seed: int) -> None:
    true_counts, wrong = (0, 2, 1), Fraction(3, 4)
    expected = joint_law(3, 1, PIN, true_counts)
    assert_sample_catches(DRAWS, expected, joint_law(3, 1, wrong, true_counts))
    draw, channel = sources(seed)[source], channel_of(3, 1, wrong)
    drawn = Counter(tuple(draw(np.array(true_counts), channel).tolist()) for _ in range(DRAWS))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(drawn, expected)


def independent_bits(true: IntArray, channel: SubsetChannel, rng: np.random.Generator) -> IntArray:
    """The shortcut that is wrong: each item named by a coin of its own. Its means are right."""
    held, others = rng.binomial(true, channel.pin), true.sum() - true
    counts: IntArray = held + rng.binomial(others, channel.pout)
    return counts


def test_a_coin_of_its_own_for_each_item_would_be_caught(seed: int) -> None:
    """Twin: the means agree, but a report then names more or fewer than d items."""
    true_counts, channel = (1, 1, 0, 0), channel_of(4, 2)
    rng = np.random.default_rng(seed)
    drawn = [independent_bits(np.array(true_counts), channel, rng) for _ in range(DRAWS)]
    expected = joint_law(4, 2, PIN, true_counts)
    means = [sum(c[x] * p for c, p in expected.items()) for x in range(4)]
    assert np.mean(drawn, axis=0) == pytest.approx(means, abs=0.1)
    with pytest.raises(AssertionError, match="impossible outcomes"):
        assert_frequencies(Counter(tuple(counts.tolist()) for counts in drawn), expected)


CLIENTS = 60_000


@pytest.mark.parametrize("source", ["secure", "fast"])
def test_many_clients_are_named_as_often_as_one_by_one(source: str, seed: int) -> None:
    """For every item: how many of all clients name it, Fisher's exact test."""
    channel = SubsetChannel.of(30, Fraction(1))
    true = np.append(np.arange(29) * 50, CLIENTS - 50 * 29 * 14)
    blocks = choose_subsets(np.repeat(np.arange(30), true), channel, Randomness.seeded(seed + 1))
    one_by_one = np.sum([block.sum(axis=0) for block in blocks], axis=0)
    at_once = sources(seed)[source](true, channel)
    for item in range(30):
        first, second = (
            Counter({True: int(c[item]), False: CLIENTS - int(c[item])})
            for c in (one_by_one, at_once)
        )
        assert_same_law(first, second, [True], 1e-9 / 30)


@pytest.mark.parametrize("source", ["secure", "fast"])
def test_the_spread_of_an_estimate_is_the_stated_variance(source: str, seed: int) -> None:
    """z² of every item of one large draw, added up: chi-square but for the sum being fixed.

    300 items, bounds at z²/N of 0.5 and 1.6: a false alarm is rarer than 1e-9 (tails of
    chi-square with 299 degrees are below 1e-10 at 0.55 and 1.58).
    """
    channel, reports = SubsetChannel.of(300, Fraction(2)), 40_000
    true = np.append(np.full(299, 40), reports - 299 * 40)
    p = true / reports
    x = channel.estimate(sources(seed)[source](true, channel), reports)
    z = (x - p) / np.sqrt(channel.variance(p, reports))
    assert 0.5 < np.mean(z**2) < 1.6


@settings(max_examples=60)
@given(
    size=st.integers(1, 40),
    epsilon=st.fractions(Fraction(1, 10), Fraction(8)),
    draw=st.integers(0, 10**6),
    most=st.sampled_from([0, 1, 3, 200, 10**5]),
)
def test_every_client_names_d_items_and_none_twice(
    size: int, epsilon: Fraction, draw: int, most: int
) -> None:
    channel = SubsetChannel.of(size, epsilon)
    true = np.random.default_rng(draw).integers(0, most + 1, size)
    before = true.copy()
    for name, source in sources(draw).items():
        counts = source(true, channel)
        assert counts.shape == true.shape, name
        assert counts.sum() == channel.subset_size * true.sum()
        assert counts.min() >= 0
        assert counts.max() <= true.sum()
        assert (true == before).all()


def test_a_channel_that_always_tells_names_everybodys_item(seed: int) -> None:
    channel = SubsetChannel(size=5, subset_size=1, threshold=WORD - 1)
    true = np.array([5, 0, 70_000, 1, 9])
    for source in sources(seed).values():
        assert source(true, channel).tolist() == true.tolist()
