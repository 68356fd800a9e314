"""Exact bounds against another library's, and their error rate against what they state."""

import pytest
from scipy.stats import beta, binom

from blender_dp.audit.clopper_pearson import lower_bound, upper_bound

CASES = [
    (successes, trials, alpha)
    for trials in (1, 20, 1000, 1_000_000)
    for successes in sorted({0, 1, trials // 50, trials // 3, trials - 1, trials})
    for alpha in (0.05, 1e-6, 1e-10)
]


@pytest.mark.parametrize(("successes", "trials", "alpha"), CASES)
def test_bounds_are_those_of_clopper_and_pearson(successes: int, trials: int, alpha: float) -> None:
    low = beta.ppf(alpha, successes, trials - successes + 1) if successes else 0.0
    high = beta.isf(alpha, successes + 1, trials - successes) if successes < trials else 1.0
    assert lower_bound(successes, trials, alpha) == pytest.approx(float(low), rel=3e-6, abs=1e-15)
    assert upper_bound(successes, trials, alpha) == pytest.approx(float(high), rel=3e-6)


@pytest.mark.parametrize(("successes", "trials", "alpha"), CASES)
def test_a_bound_never_claims_more_than_its_alpha(
    successes: int, trials: int, alpha: float
) -> None:
    low, high = lower_bound(successes, trials, alpha), upper_bound(successes, trials, alpha)
    assert not successes or binom.sf(successes - 1, trials, low) <= alpha * (1 + 1e-6)
    wrong = binom.cdf(successes, trials, high)
    # Next to 1 the bound itself is rounded to a multiple of 1e-16.
    assert successes == trials or wrong <= alpha * (1 + 1e-6) + 1e-16 * trials


@pytest.mark.parametrize("p", [0.001, 0.3, 0.97])
def test_over_all_samples_bounds_are_wrong_no_more_often_than_stated(p: float) -> None:
    """Every sample of 300 with its probability: nothing is drawn."""
    n, alpha = 300, 0.01
    weights = [float(binom.pmf(x, n, p)) for x in range(n + 1)]
    too_high = sum(w for x, w in enumerate(weights) if lower_bound(x, n, alpha) > p)
    too_low = sum(w for x, w in enumerate(weights) if upper_bound(x, n, alpha) < p)
    assert max(too_high, too_low) <= alpha
    assert max(too_high, too_low) > alpha / 10 or p == 0.001
