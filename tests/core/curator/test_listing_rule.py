"""The probability of being listed, against sums over the exact law of counts and noise."""

from dataclasses import replace

import numpy as np
import pytest
from core.sharp_cases import TwoSlopes
from scipy.stats import binom, norm

from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.estimation.release import ReleasedDiscovery

COUNTS = ReleasedDiscovery(
    branch="laplace",
    users=20_000,
    candidate_queries=0,
    candidate_records=0,
    threshold=13.0,
    right_slope=0.839,
    left_slope=0.161,
    sigma=None,
    average_weight=1.0,
    average_weight_error=0.1,
    record_concentration=1.0,
    concentration_error=0.1,
)
WEIGHTS = replace(
    COUNTS,
    branch="gauss",
    threshold=8.6,
    right_slope=None,
    left_slope=None,
    sigma=1.69,
    average_weight=3.0,
)
EXPECTED = (0.05, 1.0, 4.0, 12.0, 25.0, 80.0, 400.0)


@pytest.mark.parametrize("mu", EXPECTED)
def test_counts_are_listed_as_the_exact_law_says(mu: float) -> None:
    noise, law = TwoSlopes(right=0.839, left=0.161).law
    least = np.maximum(13 - noise, 1)  # a record that nobody has is never listed
    exact = float(np.sum(law * binom.sf(least - 1, 20_000, mu / 20_000)))
    found = ListingRule.of(COUNTS).listed(np.array([mu / 20_000]))
    assert found == pytest.approx([exact], rel=0.02, abs=1e-6)


@pytest.mark.parametrize("mu", EXPECTED)
def test_weights_are_listed_as_the_exact_law_says(mu: float) -> None:
    """Users with nine records each: nine times as many hold it as it has shares."""
    holders = np.arange(1, 20_000)
    passing = norm.sf((8.6 - holders / 3) / 1.69)
    exact = float(np.sum(binom.pmf(holders, 20_000, 9 * mu / 20_000) * passing))
    found = ListingRule.of(WEIGHTS).listed(np.array([mu / 20_000]))
    assert found == pytest.approx([exact], rel=0.02, abs=1e-6)


@pytest.mark.parametrize("discovery", [COUNTS, WEIGHTS])
def test_the_probability_of_a_chance_is_found_back(discovery: ReleasedDiscovery) -> None:
    rule = ListingRule.of(discovery)
    for chance in (0.02, 0.5, 0.98):
        assert rule.listed(np.array([rule.reached(chance)])) == pytest.approx([chance], abs=0.02)


def test_a_record_of_nobody_is_never_listed() -> None:
    for discovery in (COUNTS, WEIGHTS):
        assert ListingRule.of(discovery).listed(np.array([1e-9]))[0] < 1e-6
