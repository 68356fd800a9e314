"""``theorem:opt-in-variance``: the estimate is unbiased and so is its variance, exactly.

The exact law of a noisy count is a sum over Binomial × discrete Laplace; expectations are summed
over it. The simulation compares released counts with that law, a false alarm in 1e9.
"""

from collections import Counter
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.stats import binom

from blender_dp.core.estimate_optin_probabilities.paper import opt_in_estimates, sample_variance
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace, variance
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.core.parameters import Parameters
from exact_tests import assert_frequencies, assert_sample_catches

CASES = [(12, 0.3, Fraction(1, 2)), (30, 0.02, Fraction(2)), (25, 0.9, Fraction(7, 3))]
RUNS = 40_000


def noisy_count_law(n: int, p: float, scale: Fraction) -> tuple[IntArray, FloatArray]:
    """Return every noisy count that matters and its probability; the rest is below 1e-17."""
    a, reach = exp(-1 / scale), int(40 * scale) + 2
    noise = (1 - a) / (1 + a) * a ** np.abs(np.arange(-reach, reach + 1))
    law = np.convolve(binom.pmf(np.arange(n + 1), n, p), noise)
    return np.arange(-reach, n + reach + 1), law


@pytest.mark.parametrize(("n", "p", "scale"), CASES)
def test_the_estimate_is_unbiased(n: int, p: float, scale: Fraction) -> None:
    counts, law = noisy_count_law(n, p, scale)
    assert law.sum() == pytest.approx(1, abs=1e-14)
    assert law @ (counts / n) == pytest.approx(p, abs=1e-14)


@pytest.mark.parametrize(("n", "p", "scale"), CASES)
def test_the_variance_estimate_is_unbiased(n: int, p: float, scale: Fraction) -> None:
    """E[σ̂²] = σ² = p(1-p)/n + Var[Y]/n², and both equal the variance of the exact law."""
    counts, law = noisy_count_law(n, p, scale)
    p_hat = counts / n
    true_variance = law @ (p_hat - p) ** 2
    assert true_variance == pytest.approx(p * (1 - p) / n + variance(scale) / n**2, rel=1e-12)
    assert law @ sample_variance(p_hat, n, scale) == pytest.approx(true_variance, rel=1e-12)


@pytest.mark.parametrize(("n", "p", "scale"), CASES)
def test_the_papers_noise_variance_would_be_biased_here(n: int, p: float, scale: Fraction) -> None:
    """The test above has teeth: 2b² is the variance of another law (reading R4)."""
    counts, law = noisy_count_law(n, p, scale)
    p_hat = counts / n
    printed = p_hat * (1 - p_hat) / (n - 1) + 2 * float(scale) ** 2 / (n * (n - 1))
    assert law @ printed != pytest.approx(law @ (p_hat - p) ** 2, rel=1e-4)


@pytest.mark.parametrize(("n", "p", "scale"), CASES)
def test_forgetting_bessels_correction_would_be_seen(n: int, p: float, scale: Fraction) -> None:
    counts, law = noisy_count_law(n, p, scale)
    without = sample_variance(counts / n, n, scale) * (n - 1) / n
    assert law @ without != pytest.approx(law @ (counts / n - p) ** 2, rel=1e-3)


def bins(counts: IntArray, n: int) -> IntArray:
    """Put a noisy count of 30 ± 2·sd into eleven bins, the outer ones open."""
    centred: IntArray = np.clip((counts - n // 5) // 2, -5, 5)
    return centred


def stated(n: int, p: float, scale: Fraction) -> dict[int, float]:
    counts, law = noisy_count_law(n, p, scale)
    return {b: float(law[bins(counts, n) == b].sum()) for b in range(-5, 6)}


def simulated(n: int, p: float, scale: Fraction, seed: int) -> Counter[int]:
    """Release the count of one record again and again, as the step does."""
    noise, randomness = DiscreteLaplace(scale), Randomness.seeded(seed)
    true_counts = np.random.default_rng(seed).binomial(n, p, RUNS)
    drawn = np.array([noise.draw(randomness) for _ in range(RUNS)])
    return Counter(bins(true_counts + drawn, n).tolist())


def test_released_counts_follow_the_law(seed: int) -> None:
    assert_frequencies(simulated(60, 0.2, Fraction(2), seed), stated(60, 0.2, Fraction(2)))


def test_noise_of_half_the_scale_is_caught(seed: int) -> None:
    """The mistake of m_O/ε for 2·m_O/ε, which halves the privacy as well."""
    assert_sample_catches(RUNS, stated(60, 0.2, Fraction(2)), stated(60, 0.2, Fraction(1)))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(simulated(60, 0.2, Fraction(1), seed), stated(60, 0.2, Fraction(2)))


@pytest.mark.parametrize(("epsilon", "least"), [(1.0, 8), (4.0, 1)])
def test_absent_records_have_negative_variances_as_often_as_the_flaw_says(
    epsilon: float, least: int, seed: int
) -> None:
    """F1, counted: σ̂² < 0 where the noisy count is below about -2a/(1-a)².

    That is -7.8 at ε = 1 and -0.4 at ε = 4: Pr[Y ≤ -8] = 0.011 and Pr[Y ≤ -1] = 0.119.
    """
    scale = Parameters(preset="paper", epsilon=epsilon, delta=1e-5).laplace_scale
    n, records = 1000, 4000
    noise, randomness = DiscreteLaplace(scale), Randomness.seeded(seed)
    noisy = np.array([noise.draw(randomness) for _ in range(records)] + [n])
    estimates = opt_in_estimates(noisy, Cells.of([records]), total=n, scale=scale)
    counts, law = noisy_count_law(n, 0.0, scale)
    expected = float(law[sample_variance(counts / n, n, scale) < 0].sum())
    negative = int(np.sum(estimates.cells.variance[:records] < 0))
    drawn = Counter({True: negative, False: records - negative})
    assert_frequencies(drawn, {True: expected, False: 1 - expected})
    a = exp(-epsilon / 2)
    assert expected == pytest.approx(a**least / (1 + a), rel=1e-9)
