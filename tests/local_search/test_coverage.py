"""The share of searches answered locally, and whether its interval holds the truth."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from blender_dp.local_search.coverage import Share, coverage
from blender_dp.local_search.search import LocalSearch
from blender_dp.local_search.serving import ServingRule, served
from exact_tests import FALSE_ALARM
from releases import query_row, record_row, release_of

TRIALS, QUERIES = 500, 40
RULE = ServingRule(fewest_users=0)
TRUE = 0.02 / np.arange(1, QUERIES + 1) ** 1.1


def test_coverage_adds_up_what_is_served() -> None:
    rows = [query_row("a", 0.02), query_row("b", 0.01), query_row("c", 0.0001)]
    records = [
        record_row("a", "1.example", 0.012),
        record_row("a", "2.example", 0.004),
        record_row("b", "1.example", 0.0001),
    ]
    found = LocalSearch(release_of(rows, records)).coverage()
    assert found.suggested.share == pytest.approx(0.03)
    assert found.answered.share == pytest.approx(0.016)
    # Two queries of error 0.0005 in quadrature; two records of one query added up.
    assert found.suggested.high - 0.03 == pytest.approx(1.96 * 0.0005 * 2**0.5, rel=1e-3)
    assert found.answered.high - 0.016 == pytest.approx(1.96 * 0.0005 * 2, rel=1e-3)
    assert found.answered.low < 0.016 - 1.96 * 0.0005 * 2 < found.answered.share


def test_nothing_served_covers_nothing() -> None:
    found = LocalSearch(release_of({"a": 0.0001})).coverage()
    assert (found.suggested.share, found.suggested.high) == (0, 0)
    assert LocalSearch(release_of({})).coverage().answered == Share(share=0, low=0, high=0)


def truth_and_share(rng: np.random.Generator) -> tuple[float, Share]:
    """Draw a release of queries whose estimates are normal, and return what truly is served."""
    client_error, opt_in_error = 0.0005, np.sqrt(TRUE / 1298 + 1e-7)
    clients = rng.normal(TRUE, client_error)
    opt_in = rng.normal(TRUE, opt_in_error)
    weight = client_error**2 / (client_error**2 + opt_in_error**2)
    blend = weight * opt_in + (1 - weight) * clients
    rows = [
        query_row(
            f"q{i}",
            float(blend[i]),
            error=float(np.sqrt(1 / (client_error**-2 + opt_in_error[i] ** -2))),
            low=0.0,
            high=1.0,
            client_probability=float(clients[i]),
            client_std_error=client_error,
            opt_in_probability=float(opt_in[i]),
            opt_in_std_error=float(opt_in_error[i]),
            opt_in_weight=float(weight[i]),
        )
        for i in range(QUERIES)
    ]
    release = release_of(rows)
    found = served(release, RULE)
    truth = sum(float(TRUE[int((row.query or "")[1:])]) for row in found.queries)
    return truth, coverage(release, RULE, found).suggested


@cache
def trials(seed: int) -> list[tuple[float, Share]]:
    rng = np.random.default_rng(seed)
    return [truth_and_share(rng) for _ in range(TRIALS)]


def hits(seed: int, *, stretched: float = 1.0) -> int:
    """Count the intervals that hold the truth, each stretched around its middle."""
    held = 0
    for truth, found in trials(seed):
        middle, reach = (found.low + found.high) / 2, (found.high - found.low) / 2
        held += abs(truth - middle) <= reach * stretched
    return held


def assert_covers(count: int) -> None:
    assert binom.cdf(count, TRIALS, 0.95) > FALSE_ALARM, f"{count} of {TRIALS}"


def test_the_interval_holds_the_truth_as_often_as_it_says(seed: int) -> None:
    assert_covers(hits(seed))


def test_an_interval_less_than_half_as_wide_would_be_caught(seed: int) -> None:
    """It covers about 62 %; the next test says that this is told apart."""
    with pytest.raises(AssertionError, match=f"of {TRIALS}"):
        assert_covers(hits(seed, stretched=0.4))


def test_the_number_of_trials_tells_the_two_apart() -> None:
    passing = min(n for n in range(TRIALS) if binom.cdf(n, TRIALS, 0.95) > FALSE_ALARM)
    assert binom.sf(passing - 1, TRIALS, 0.7) < FALSE_ALARM


def test_serving_what_is_overstated_is_paid_for_at_the_low_end() -> None:
    """A row just at the bound may owe its place to chance; one far above it does not."""
    far, near = release_of({"a": 0.02}), release_of({"a": 0.0015})
    rule = replace(RULE, significance=3)
    for release, paid in ((far, 0.0), (near, 0.8 * 0.0005 * 0.39894)):
        found = LocalSearch(release, rule=rule).coverage().suggested
        assert 2 * found.share - found.high - found.low == pytest.approx(paid, abs=1e-6)
