"""The accounting of shuffled reports against enumeration, a published table, and itself."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from blender_dp.core.certificate.shuffle import largest_report_epsilon, shuffled_delta
from blender_dp.core.channels.local_alg import WORD
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import exact

Law = npt.NDArray[np.float64]
ROUNDING = 1e-12
"""What the enumeration in doubles may be off by."""

TABLE = {
    (50, 20_000, 1e-5): (5.05, 6.33, 7.20, 7.44),
    (50, 100_000, 1e-5): (6.83, 7.99, 8.83, 9.06),
    (50, 400_000, 1e-5): (8.25, 9.39, 10.22, 10.45),
    (50, 4_000_000, 1e-7): (10.07, 11.24, 12.12, 12.42),
    (150, 100_000, 1e-5): (6.74, 7.96, 8.82, 9.05),
    (150, 400_000, 1e-5): (8.23, 9.38, 10.22, 10.45),
    (500, 20_000, 1e-5): (2.45, 5.37, 6.86, 7.17),
    (500, 100_000, 1e-5): (6.33, 7.85, 8.77, 9.02),
    (500, 400_000, 1e-5): (8.14, 9.36, 10.21, 10.44),
}
"""The largest ε0 by K, n and δ, for ε = 0.5, 1, 2, 4: computed apart, with a + b in place of M."""


@pytest.mark.parametrize(("cells", "honest", "delta"), TABLE)
def test_the_claim_without_a_bound_on_the_uniform_reports_gives_the_table(
    cells: int, honest: int, delta: float
) -> None:
    for epsilon, epsilon_0 in zip((0.5, 1, 2, 4), TABLE[cells, honest, delta], strict=True):
        inside, outside = (
            shuffled_delta(
                SubsetChannel.naming_one(cells, exact(epsilon_0) + step), honest, exact(epsilon)
            )
            for step in (Fraction(-1, 100), Fraction(1, 100))
        )
        assert inside <= exact(delta) < outside


@pytest.mark.parametrize(("cells", "honest", "delta"), TABLE)
def test_counting_on_uniform_reports_never_chooses_less(
    cells: int, honest: int, delta: float
) -> None:
    for epsilon, epsilon_0 in zip((0.5, 1, 2, 4), TABLE[cells, honest, delta], strict=True):
        chosen = _chosen(cells, honest, epsilon, delta)
        assert chosen >= exact(epsilon_0) - Fraction(1, 100)


def test_counting_on_uniform_reports_chooses_far_more_where_many_are() -> None:
    assert _chosen(500, 20_000, 0.5, 1e-5) > 6  # instead of 2.45


@pytest.mark.parametrize(
    ("cells", "honest", "epsilon_0"),
    [(2, 40, 3.0), (2, 7, 1.0), (3, 25, 2.5), (3, 12, 4.0), (4, 14, 3.0), (4, 14, 1.5)],
)
def test_never_below_the_enumeration_of_all_configurations_of_the_others(
    cells: int, honest: int, epsilon_0: float
) -> None:
    channel, epsilons = SubsetChannel.naming_one(cells, exact(epsilon_0)), (0.0, 0.1, 0.5, 1.0, 2.0)
    worst = np.max(
        [
            [_divergence(channel, others, epsilon) for epsilon in epsilons]
            for others in _laws_of_others(channel, honest - 1)
        ],
        axis=0,
    )
    for epsilon, exactly in zip(epsilons, worst, strict=True):
        for spare in (Fraction(0), Fraction(1, 1000), Fraction(1, 10)):
            assert shuffled_delta(channel, honest, exact(epsilon), spare) >= exactly - ROUNDING


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_within_a_few_per_cent_of_the_enumeration(epsilon: float) -> None:
    channel = SubsetChannel.naming_one(4, Fraction(4))
    others = _after(channel, [2] * 39, _nothing(channel, 39))  # the worst configuration
    exactly = _divergence(channel, others, epsilon)
    assert exactly <= shuffled_delta(channel, 40, exact(epsilon)) <= 1.04 * exactly


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_little_is_lost_against_the_sum_over_the_uniform_reports(epsilon: float) -> None:
    chosen = _chosen(100, 3000, epsilon, 1e-5)
    for step, is_kept in ((Fraction(0), True), (Fraction(15, 100), False)):
        channel = SubsetChannel.naming_one(100, chosen + step)
        assert (_claim(channel, 3000, epsilon) <= 1e-5) == is_kept


@pytest.mark.parametrize(
    ("cells", "honest", "epsilon"), [(50, 20_000, 1.0), (500, 20_000, 0.5), (3_000, 400_000, 4.0)]
)
def test_a_channel_with_two_per_cent_less_uniform_reports_breaks_the_promise(
    cells: int, honest: int, epsilon: float
) -> None:
    delta = exact(1e-5)
    channel = SubsetChannel.naming_one(cells, _chosen(cells, honest, epsilon, 1e-5))
    lies = WORD - channel.threshold
    twin = SubsetChannel(size=cells, subset_size=1, threshold=WORD - lies * 98 // 100)
    spare = delta / 1000
    assert shuffled_delta(channel, honest, exact(epsilon), spare) <= delta
    assert shuffled_delta(twin, honest, exact(epsilon), spare) > delta


@settings(max_examples=30, deadline=None)
@given(
    cells=st.integers(2, 200),
    honest=st.integers(1, 3000),
    epsilon_0=st.integers(1, 800),
    epsilon=st.integers(0, 300),
)
def test_falls_with_more_honest_reports_and_with_smaller_epsilon_0(
    cells: int, honest: int, epsilon_0: int, epsilon: int
) -> None:
    channel, wider = (
        SubsetChannel.naming_one(cells, Fraction(e, 100)) for e in (epsilon_0, epsilon_0 + 10)
    )
    here = shuffled_delta(channel, honest, Fraction(epsilon, 100))
    slack = Fraction(1, 10**20)
    assert shuffled_delta(channel, honest + 10, Fraction(epsilon, 100)) <= here + slack
    assert here <= shuffled_delta(wider, honest, Fraction(epsilon, 100)) + slack
    assert shuffled_delta(channel, honest, Fraction(epsilon + 1, 100)) <= here + slack


@settings(max_examples=15, deadline=None)
@given(
    cells=st.integers(2, 3000),
    honest=st.integers(1000, 500_000),
    epsilon=st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0]),
)
def test_more_honest_reports_never_choose_a_smaller_epsilon_0(
    cells: int, honest: int, epsilon: float
) -> None:
    fewer, more = (_chosen(cells, n, epsilon, 1e-6) for n in (honest, 2 * honest))
    assert exact(epsilon) <= fewer <= more


def test_the_cap_holds_and_epsilon_alone_needs_no_relay() -> None:
    assert _chosen(50, 4_000_000, 1.0, 1e-7, cap=8) == 8
    assert _chosen(50, 4_000_000, 4.0, 1e-7, cap=2) == 2
    assert _chosen(50, 1, 1.0, 1e-7) == 1
    assert _chosen(1, 1000, 1.0, 1e-7) == 20


def test_what_the_claim_does_not_cover_is_refused() -> None:
    two_of_five = SubsetChannel(size=5, subset_size=2, threshold=WORD // 2)
    with pytest.raises(ParameterError, match="subset_size must be 1"):
        shuffled_delta(two_of_five, 100, Fraction(1))
    with pytest.raises(ParameterError, match="honest must be at least 1"):
        shuffled_delta(SubsetChannel.naming_one(5, Fraction(1)), 0, Fraction(1))


def _chosen(cells: int, honest: int, epsilon: float, delta: float, cap: int = 20) -> Fraction:
    return largest_report_epsilon(
        cells, honest, epsilon=exact(epsilon), delta=exact(delta), cap=Fraction(cap)
    )


def _nothing(channel: SubsetChannel, others: int) -> Law:
    """Return the law of the counts in all cells but the last, before any report.

    An axis for each cell, long enough for the others and the victim.
    """
    law = np.zeros((others + 2,) * (channel.size - 1))
    law[(0,) * law.ndim] = 1
    return law


def _after(channel: SubsetChannel, truths: list[int], law: Law) -> Law:
    """Return the law of the counts after one report more for each of these true cells."""
    for truth in truths:
        by_cell = [*(np.roll(law, 1, axis) for axis in range(law.ndim)), law]  # ends are empty
        likely = [channel.pout] * channel.size
        likely[truth] = channel.pin
        law = np.sum([p * moved for p, moved in zip(likely, by_cell, strict=True)], axis=0)
    return law


def _laws_of_others(channel: SubsetChannel, others: int) -> Iterator[Law]:
    """Yield the law of the others' reports for every way to spread them over the cells."""

    def spread(law: Law, cell: int, left: int) -> Iterator[Law]:
        if cell == channel.size - 1:
            yield _after(channel, [cell] * left, law)
            return
        for here in range(left + 1):
            yield from spread(law, cell + 1, left - here)
            if here < left:
                law = _after(channel, [cell], law)

    return spread(_nothing(channel, others), 0, others)


def _divergence(channel: SubsetChannel, others: Law, epsilon: float) -> float:
    """Return the hockey-stick divergence of a victim in the first cell and one in the second."""
    first, second = (_after(channel, [truth], others) for truth in (0, 1))
    return float(np.maximum(first - exp(epsilon) * second, 0).sum())


def _claim(channel: SubsetChannel, honest: int, epsilon: float) -> float:
    """Compute the claim of the module in doubles, summed over M, N and a."""
    r, growth = float(channel.likelihood_ratio()) - 1, exp(epsilon)
    gamma = float(channel.size * channel.exact_pout)
    uniform = np.arange(honest + 1)
    uniform = uniform[binom.pmf(uniform, honest, gamma) > 1e-12]
    pair = a = np.arange(150)
    of_a = binom.pmf(a[:, None], pair, 0.5)
    gain = r * (a[:, None] - growth * (pair - a[:, None]))
    total = 0.0
    for m in uniform:
        means = (of_a * np.maximum(gain - (growth - 1) * m, 0)).sum(axis=0)
        total += binom.pmf(m, honest, gamma) * (binom.pmf(pair, m, 2 / channel.size) @ means)
    return total / honest
