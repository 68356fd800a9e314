"""The test of drift: calibrated, with the power it says it has, and what it makes of drift."""

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from blender_dp.core.estimation.chi_square import survival
from blender_dp.core.estimation.drift import (
    Drift,
    QueryTotals,
    between_group_variance,
    compare_groups,
)
from blender_dp.core.head_list.cells import FloatArray
from exact_tests import FALSE_ALARM, binomial_p_value, miss_probability

P: FloatArray = np.array([0.1, 0.05, 0.03, 0.02, 0.02, 0.01])
VAR_O: FloatArray = P / 5000
VAR_C: FloatArray = P / 9000 + 1e-7
RUNS = 3000


def totals(opt_in: FloatArray, clients: FloatArray) -> QueryTotals:
    return QueryTotals(
        queries=np.array([3, 4, 7, 9, 12, 30]),
        opt_in=opt_in,
        opt_in_variance=VAR_O,
        clients=clients,
        client_variance=VAR_C,
        probability=P,
    )


def drawn(rng: np.random.Generator, tilt: float = 0.0) -> QueryTotals:
    """Draw totals; the groups differ by ± ``tilt`` of every query's probability."""
    sign = rng.choice([-1, 1], len(P))
    return totals(rng.normal(P * (1 + tilt * sign), np.sqrt(VAR_O)), rng.normal(P, np.sqrt(VAR_C)))


def test_by_hand() -> None:
    """One standard deviation off in each of six queries: Q = 6."""
    z = np.array([1.0, -1, 1, -1, 1, -1])
    drift = compare_groups(totals(P + z * np.sqrt(VAR_O + VAR_C), P), between_group_variance=0.0)
    assert drift.statistic == pytest.approx(6)
    assert drift.degrees == 6
    assert drift.p_value == pytest.approx(float(chi2.sf(6, 6)))


def test_the_widest_differences_come_first() -> None:
    z = np.array([0.5, -3.0, 2.0, 0.0, -0.1, 2.5])
    drift = compare_groups(totals(P + z * np.sqrt(VAR_O + VAR_C), P), between_group_variance=0.0)
    assert [query for query, _ in drift.widest] == [4, 30, 7, 3, 12, 9]
    assert [score for _, score in drift.widest] == pytest.approx([-3.0, 2.5, 2.0, 0.5, -0.1, 0])


def alarms(seed: int, *, tilt: float = 0.0, stated: float = 1.0) -> int:
    """Count the alarms at the 5 % level, variances being stated as ``stated`` of what they are."""
    rng = np.random.default_rng(seed)
    comparisons = (drawn(rng, tilt) for _ in range(RUNS))
    return sum(survival(totals.statistic / stated, len(P)) < 0.05 for totals in comparisons)


def test_without_drift_the_alarm_is_as_rare_as_stated(seed: int) -> None:
    assert binomial_p_value(alarms(seed), RUNS, 0.05) > FALSE_ALARM


def test_variances_a_third_too_small_are_caught(seed: int) -> None:
    """The twin of the test above."""
    rate = float(chi2.sf(0.7 * chi2.isf(0.05, len(P)), len(P)))
    assert miss_probability(RUNS, 0.05, rate, FALSE_ALARM) < FALSE_ALARM
    assert binomial_p_value(alarms(seed, stated=0.7), RUNS, 0.05) < FALSE_ALARM


def detectable() -> float:
    return compare_groups(totals(P, P), between_group_variance=0.0).smallest_detectable


def test_the_smallest_detectable_difference_is_found_in_four_of_five_cases(seed: int) -> None:
    assert binomial_p_value(alarms(seed, tilt=detectable()), RUNS, 0.8) > FALSE_ALARM


@pytest.mark.parametrize("error", [0.8, 1.25])
def test_a_detectable_difference_a_fifth_off_is_caught(seed: int, error: float) -> None:
    """The twin of the test above."""
    shift = (error * detectable()) ** 2 * float((P**2 / (VAR_O + VAR_C)).sum())
    power = float(ncx2.sf(chi2.isf(0.05, len(P)), len(P), shift))
    assert miss_probability(RUNS, 0.8, power, FALSE_ALARM) < FALSE_ALARM
    assert binomial_p_value(alarms(seed, tilt=error * detectable()), RUNS, 0.8) < FALSE_ALARM


def test_the_variance_between_groups_is_found() -> None:
    """On a fixed draw of 400 comparisons whose groups differ by 40 % of each query."""
    rng = np.random.default_rng(1)
    found = [between_group_variance(drawn(rng, tilt=0.4)) for _ in range(400)]
    assert np.mean(found) == pytest.approx(0.16, rel=0.05)


def test_without_significant_drift_nothing_is_allowed_for() -> None:
    z = sqrt(float(chi2.isf(0.011, 6)) / 6)
    assert between_group_variance(totals(P + z * np.sqrt(VAR_O + VAR_C), P)) == 0
    z = sqrt(float(chi2.isf(0.009, 6)) / 6)
    assert between_group_variance(totals(P + z * np.sqrt(VAR_O + VAR_C), P)) > 0


def test_the_sentence_claims_an_allowance_only_where_there_is_one() -> None:
    """Agreement in a query that is known exactly can outweigh drift in the others: tau² is 0."""
    z = np.array([0.0, 0, 5, 0, 0, 0])
    seen = totals(P + z * np.sqrt(VAR_O + VAR_C), P)
    assert between_group_variance(seen) > 0
    allowed = compare_groups(seen, between_group_variance=between_group_variance(seen))
    assert "differ: " in allowed.sentence
    assert "count for less and the intervals are wider" in allowed.sentence

    known = np.arange(len(P)) == 0
    exact = replace(
        seen,
        opt_in_variance=np.where(known, 1e-9, VAR_O),
        client_variance=np.where(known, 1e-9, VAR_C),
    )
    assert between_group_variance(exact) == 0
    unallowed = compare_groups(exact, between_group_variance=between_group_variance(exact))
    assert unallowed.is_significant
    assert "differ: " in unallowed.sentence
    assert "do not allow for it" in unallowed.sentence
    assert "wider" not in unallowed.sentence


def test_nothing_to_compare_is_no_drift() -> None:
    nothing = np.zeros(0)
    empty = QueryTotals(
        queries=np.zeros(0, dtype=np.int64),
        opt_in=nothing,
        opt_in_variance=nothing,
        clients=nothing,
        client_variance=nothing,
        probability=nothing,
    )
    assert between_group_variance(empty) == 0
    assert compare_groups(empty, between_group_variance=0.0) == Drift(
        statistic=0.0,
        degrees=0,
        p_value=1.0,
        smallest_detectable=inf,
        between_group_variance=0.0,
        widest=(),
    )


@pytest.mark.parametrize(
    ("degrees", "words"),
    [
        (0, "No query was frequent enough"),
        (1, "1 frequent query was compared (p = 0.5)"),
        (2, "2 frequent queries were compared (p = 0.5)"),
    ],
)
def test_the_sentence_says_how_many_queries_were_compared(degrees: int, words: str) -> None:
    drift = Drift(
        statistic=1.0,
        degrees=degrees,
        p_value=0.5,
        smallest_detectable=0.2,
        between_group_variance=0.0,
        widest=(),
    )
    assert words in drift.sentence
