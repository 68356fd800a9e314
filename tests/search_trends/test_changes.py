"""Rises and falls: few of those reported are false, and what cannot be tested is said."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, false_discovery_control, norm

from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import Release
from blender_dp.search_trends.changes import Change, changes
from blender_dp.search_trends.multiple_testing import benjamini_hochberg, critical_value, upper_tail
from blender_dp.search_trends.trends import trends
from exact_tests import FALSE_ALARM
from releases import query_row, record_row, release_of, without_interval

RATE = 0.05


def of(found: list[Change], query: str) -> Change:
    return next(change for change in found if change.query == query)


def compare(now: Release, then: Release) -> list[Change]:
    return changes(now, then, false_discovery_rate=RATE)


def test_a_clear_rise_and_a_clear_fall_are_found() -> None:
    then = release_of({"up": 0.01, "down": 0.02, "same": 0.03})
    now = release_of({"up": 0.02, "down": 0.01, "same": 0.0301})
    found = compare(now, then)
    assert {c.query: c.verdict for c in found} == {"up": "rose", "down": "fell", "same": None}
    assert found[-1].query == "same"  # the surest come first
    rise = of(found, "up")
    assert (rise.before, rise.after) == (0.01, 0.02)
    assert rise.difference == pytest.approx(0.01)
    reach = 1.959964 * math.sqrt(2) * 0.0005
    assert rise.low == pytest.approx(0.01 - reach)
    assert rise.high == pytest.approx(0.01 + reach)
    assert of(found, "same").p_value == pytest.approx(2 * norm.sf(0.0001 / 0.0005 / math.sqrt(2)))


def test_what_has_no_interval_is_not_tested() -> None:
    spoilt = query_row("a", **without_interval(0.5))
    found = compare(release_of([spoilt]), release_of({"a": 0.01}))
    assert [(c.p_value, c.verdict, c.before, c.after) for c in found] == [(None, None, 0.01, 0.5)]
    assert trends(release_of([spoilt]), release_of({"a": 0.01})).untested == 1


def test_what_one_list_lacks_is_new_or_has_left() -> None:
    found = compare(
        release_of({"new": 0.01, "both": 0.001}), release_of({"gone": 0.02, "both": 0.001})
    )
    found = [change for change in found if change.query != "both"]
    assert {(c.query, c.listing, c.before, c.after, c.p_value, c.verdict) for c in found} == {
        ("new", "new on the list", None, 0.01, None, None),
        ("gone", "left the list", 0.02, None, None, None),
    }


def test_absence_is_tested_where_the_list_says_what_it_means() -> None:
    now = release_of({"new": 0.02}, unlisted_bound=0.001)
    then = release_of({"gone": 0.02, "faint": 0.0012}, unlisted_bound=0.001)
    found = compare(now, then)
    assert {c.query: c.verdict for c in found} == {"new": "rose", "gone": "fell", "faint": None}
    faint = of(found, "faint").p_value
    assert faint == pytest.approx(norm.sf((0.0012 - 0.001) / 0.0005) + 1e-6)


def test_every_record_of_a_new_query_is_one_try() -> None:
    records = [record_row("new", f"{i}.example", 0.002) for i in range(3)]
    now = release_of([query_row("new", 0.01)], records)
    (found,) = compare(now, release_of({}, unlisted_bound=0.001))
    assert found.p_value == pytest.approx(3 * (norm.sf(2) + 1e-6))


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0.01, 0.5))
def test_the_procedure_is_that_of_benjamini_and_hochberg(values: list[float], rate: float) -> None:
    p_values = np.array(values, dtype=np.float64)
    adjusted = false_discovery_control(p_values) if values else p_values
    clear = np.abs(adjusted - rate) > 1e-12  # where rounding cannot decide
    np.testing.assert_array_equal(
        benjamini_hochberg(p_values, rate)[clear], (adjusted <= rate)[clear]
    )


TRIALS, QUERIES, CHANGED = 1_000, 30, 6
TRUE = 0.02 / np.arange(1, QUERIES + 1)
SHIFTED = TRUE + np.where(np.arange(QUERIES) < CHANGED, 0.0025, 0)
ERROR = 0.0005


def drawn(rng: np.random.Generator, true: np.ndarray) -> Release:
    values = rng.normal(true, ERROR)
    return release_of([query_row(f"{i:02}", float(value)) for i, value in enumerate(values)])


def test_lists_with_different_trims_call_nothing_new_that_the_shorter_could_not_list() -> None:
    shares = {f"{i:03}": 0.02 / (i + 1) for i in range(100)}
    top = dict(list(shares.items())[:22])
    for now, then in ((shares, top), (top, shares)):
        found = compare(release_of(now), release_of(then))
        listings = Counter(change.listing for change in found)
        assert listings == {"listed in both": 22, "below the other list": 78}
    fresh = compare(release_of(shares | {"fresh": 0.015}), release_of(top))
    (change,) = [change for change in fresh if change.listing == "new on the list"]
    assert (change.query, change.before, change.after) == ("fresh", None, 0.015)


def test_an_empty_list_makes_nothing_new_or_rare() -> None:
    some, none = release_of({"a": 0.02, "b": 0.01}), release_of({})
    for now, then in ((some, none), (none, some)):
        found = compare(now, then)
        assert {change.listing for change in found} == {"the other list is empty"}
        assert {change.verdict for change in found} == {None}
    surely = of(compare(some, release_of({}, unlisted_bound=0.0001)), "a")
    assert (surely.listing, surely.verdict) == ("new on the list", "rose")


def test_what_is_surely_above_the_other_lists_bound_rose_however_rare() -> None:
    now = release_of({"a": 0.02, "b": 0.006})
    found = of(compare(now, release_of({"a": 0.02}, unlisted_bound=0.0001)), "b")
    assert (found.listing, found.verdict) == ("new on the list", "rose")
    unknown = of(compare(now, release_of({"a": 0.02})), "b")
    assert (unknown.listing, unknown.verdict) == ("below the other list", None)


def false_shares(seed: int, now: np.ndarray, *, rate: float = RATE) -> list[float]:
    """Return, trial by trial, the share of verdicts on queries that did not change."""
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(TRIALS):
        found = changes(drawn(rng, now), drawn(rng, TRUE), false_discovery_rate=rate)
        verdicts = [int(c.query) for c in found if c.verdict]
        wrong = sum(now[query] == TRUE[query] for query in verdicts)
        shares.append(wrong / max(1, len(verdicts)))
    return shares


def assert_rarely_any(shares: list[float]) -> None:
    """When nothing changed, any verdict is false: a share of 5 % of the trials at most."""
    wrong = sum(share > 0 for share in shares)
    assert binom.sf(wrong - 1, TRIALS, RATE) > FALSE_ALARM, f"{wrong} of {TRIALS}"


def test_where_nothing_changed_a_change_is_rarely_reported(seed: int) -> None:
    assert_rarely_any(false_shares(seed, TRUE))


def test_testing_every_query_at_the_level_of_one_would_be_caught(seed: int) -> None:
    """Thirty tests at 5 % each are wrong somewhere in 79 % of the trials: a rate of 0.79."""
    with pytest.raises(AssertionError, match=f"of {TRIALS}"):
        assert_rarely_any(false_shares(seed, TRUE, rate=0.79))


def test_of_what_is_reported_little_is_false(seed: int) -> None:
    """Shares lie in [0, 1]: by Hoeffding their mean exceeds 5 % by 0.102 with 10⁻⁹."""
    excess = math.sqrt(-math.log(FALSE_ALARM) / (2 * TRIALS))
    assert np.mean(false_shares(seed, SHIFTED)) <= RATE + excess


def test_what_changed_much_is_found(seed: int) -> None:
    """0.0025 is 3.5 standard errors of a difference; six of them in one release."""
    rng = np.random.default_rng(seed)
    found = [
        c.query
        for _ in range(50)
        for c in compare(drawn(rng, SHIFTED), drawn(rng, TRUE))
        if c.verdict == "rose" and int(c.query) < CHANGED
    ]
    # About 0.83 of the 300 are. Were it 0.8 only, then by Hoeffding, over 50 independent
    # comparisons, a third or less would be with probability exp(-100 (0.8 - 1/3)²) < 10⁻⁹.
    assert len(found) >= 100


def test_the_normal_distribution_keeps_its_digits_far_out() -> None:
    for z in (-3.0, 0.0, 1.0, 5.0, 12.0, 30.0):
        assert upper_tail(z) == pytest.approx(norm.sf(z), rel=1e-12)
    for level in (0.5, 0.025, 1e-6, 1e-12):
        assert critical_value(level) == pytest.approx(norm.isf(level), rel=1e-12)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, float("nan")])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(ParameterError, match="false_discovery_rate"):
        trends(release_of({}), false_discovery_rate=rate)


def test_the_ranking_puts_what_cannot_be_ranked_last() -> None:
    rows = [
        query_row("first", 0.05),
        query_row("spoilt", **without_interval(0.9)),
        query_row("second", 0.01),
    ]
    found = trends(release_of(rows))
    assert [(r.query, r.rank, r.best_rank, r.worst_rank, r.group) for r in found.ranking] == [
        ("first", 1, 1, 2, 1),
        ("second", 2, 2, 3, 2),
        ("spoilt", None, 1, 3, None),
    ]
    assert (found.changes, found.without_interval, found.untested) == (None, 1, 0)


def test_a_comparison_with_an_experiment_is_one() -> None:
    release = release_of({"a": 0.01})
    assert trends(release, release).private
    assert not trends(release, replace(release, private=False)).private


def test_an_empty_release_has_no_trends() -> None:
    found = trends(release_of({}), release_of({}))
    assert (found.ranking, found.changes) == ((), ())
