"""Reports drawn from counts have the law of reports drawn client by client.

The joint law of few clients is enumerated, so that variances and covariances are tested and not
only means. False alarm: 1e-9 for each assertion, exact (``exact_tests``).
"""

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.local_alg.paper import privatize_many
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.counted_reports import reports_from_cell_counts
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

DRAWS = 6_000
CLIENTS = 200_000
Counts = tuple[int, ...]


def channel_of(listed_urls: list[int], epsilon: float = 2.0) -> LocalAlgChannel:
    mechanism = LocalAlgMechanism.of(Parameters(preset="paper", epsilon=epsilon, delta=1e-3))
    return LocalAlgChannel.of(Cells.of(listed_urls), mechanism)


def law_of_one(channel: LocalAlgChannel, true: int) -> list[float]:
    """Return how likely a client truly in ``true`` reports each cell, from exact fractions."""
    query = channel.cells.query_of_cell.tolist()
    cases = [
        0 if told == true else 1 if query[told] == query[true] else 2 for told in range(len(query))
    ]
    return [float(channel.column(query[told])[case]) for told, case in enumerate(cases)]


def joint_law(channel: LocalAlgChannel, true_counts: Counts) -> dict[Counts, float]:
    """Return the probability of every vector of report counts, by enumeration."""
    people = [cell for cell, count in enumerate(true_counts) for _ in range(count)]
    laws = [law_of_one(channel, cell) for cell in people]
    found: dict[Counts, float] = {}
    for told in product(range(len(true_counts)), repeat=len(people)):
        p = prod(law[cell] for law, cell in zip(laws, told, strict=True))
        counts = tuple(np.bincount(told, minlength=len(true_counts)).tolist())
        found[counts] = found.get(counts, 0.0) + p
    return {counts: p for counts, p in found.items() if p}


def drawn(channel: LocalAlgChannel, true_counts: Counts, seed: int) -> Counter[Counts]:
    rng, true = np.random.default_rng(seed), np.array(true_counts)
    return Counter(
        tuple(reports_from_cell_counts(true, channel, rng).tolist()) for _ in range(DRAWS)
    )


CASES: list[tuple[list[int], Counts]] = [
    ([1], (3, 0, 0)),  # more clients than places: multinomial
    ([1], (0, 1, 2)),
    ([2, 1], (2, 0, 0, 0, 0, 0)),  # fewer: one place a client
    ([2, 1], (0, 1, 0, 0, 0, 1)),
]


@pytest.mark.parametrize(("listed_urls", "true_counts"), CASES)
def test_the_joint_law_of_few_clients_is_the_enumerated_one(
    listed_urls: list[int], true_counts: Counts, seed: int
) -> None:
    channel = channel_of(listed_urls)
    assert_frequencies(drawn(channel, true_counts, seed), joint_law(channel, true_counts))


@pytest.mark.parametrize(("listed_urls", "true_counts"), CASES[::2])
def test_another_channel_is_caught(listed_urls: list[int], true_counts: Counts, seed: int) -> None:
    expected = joint_law(channel_of(listed_urls), true_counts)
    wrong = channel_of(listed_urls, epsilon=3.0)
    assert_sample_catches(DRAWS, expected, joint_law(wrong, true_counts))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(drawn(wrong, true_counts, seed), expected)


def test_reports_without_their_spread_are_caught(seed: int) -> None:
    """Twin: every client tells the same lie. The means are right, the joint law is not."""
    channel, true_counts = channel_of([2, 1]), (2, 0, 0, 0, 0, 0)
    expected = joint_law(channel, true_counts)
    alone = law_of_one(channel, 0)
    off = {c: alone[c.index(2)] if 2 in c else 0.0 for c in expected}
    assert_sample_catches(DRAWS, expected, off)
    told = np.random.default_rng(seed).choice(6, DRAWS, p=np.array(alone) / sum(alone))
    together = Counter(tuple(np.bincount([cell] * 2, minlength=6).tolist()) for cell in told)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(together, expected)


def counter(counts: np.ndarray) -> Counter[int]:
    return Counter(dict(enumerate(counts.tolist())))


@pytest.mark.parametrize("true", range(9))
def test_many_clients_report_as_they_do_one_by_one(true: int, seed: int) -> None:
    channel = channel_of([3, 1, 1])
    true_cells = np.full(CLIENTS, true)
    one_by_one = np.bincount(privatize_many(true_cells, channel, Randomness.seeded(seed)))
    rng = np.random.default_rng(seed)
    true_counts = np.bincount(true_cells, minlength=9)
    at_once = counter(reports_from_cell_counts(true_counts, channel, rng))
    assert_same_law(counter(one_by_one), at_once, range(9))
    assert_frequencies(at_once, dict(enumerate(law_of_one(channel, true))))


@pytest.mark.parametrize("true", range(9))
def test_a_channel_that_is_a_little_off_is_caught(true: int, seed: int) -> None:
    """Two samples of n tell two laws apart as well as one sample of n/2 tells it from its law."""
    channel, wrong = channel_of([3, 1, 1]), channel_of([3, 1, 1], epsilon=2.25)
    law, wrong_law = (dict(enumerate(law_of_one(c, true))) for c in (channel, wrong))
    assert_sample_catches(CLIENTS // 2, law, wrong_law)
    true_cells = np.full(CLIENTS, true)
    one_by_one = np.bincount(privatize_many(true_cells, channel, Randomness.seeded(seed)))
    rng = np.random.default_rng(seed)
    off = reports_from_cell_counts(np.bincount(true_cells, minlength=9), wrong, rng)
    with pytest.raises(AssertionError, match="of the first sample"):
        assert_same_law(counter(one_by_one), counter(off), range(9))


@given(
    listed_urls=st.lists(st.integers(1, 5), max_size=6),
    draw=st.integers(0, 10**6),
    most=st.sampled_from([0, 1, 3, 100, 10**6]),
)
def test_every_client_reports_once(listed_urls: list[int], draw: int, most: int) -> None:
    channel, rng = channel_of(listed_urls), np.random.default_rng(draw)
    true_counts = rng.integers(0, most + 1, channel.cells.cell_count)
    before = true_counts.copy()
    reports = reports_from_cell_counts(true_counts, channel, rng)
    assert reports.shape == true_counts.shape
    assert reports.min() >= 0
    assert reports.sum() == true_counts.sum()
    assert (true_counts == before).all()


def test_without_a_list_everybody_says_the_same() -> None:
    reports = reports_from_cell_counts(np.array([7]), channel_of([]), np.random.default_rng(0))
    assert reports.tolist() == [7]
