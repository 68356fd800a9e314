"""Verdicts on numbers made by hand."""

import math

import pytest
from evaluation.reproduction.made_up_series import UNREACHED, series, spread

from blender_dp.evaluation.reproduction import verdicts
from blender_dp.evaluation.reproduction.medians import Median
from blender_dp.evaluation.reproduction.series import Series
from blender_dp.evaluation.reproduction.verdicts import Answer, Verdict

HOLDS, FAILS, OPEN = Answer.HOLDS, Answer.FAILS, Answer.OPEN


@pytest.mark.parametrize(
    ("middle", "answer"), [(0.96, HOLDS), (0.953, OPEN), (0.95, OPEN), (0.947, OPEN), (0.94, FAILS)]
)
def test_a_point_is_above_a_bound_if_its_interval_is(middle: float, answer: Answer) -> None:
    """The interval reaches from middle - 0.0075 to middle + 0.0075."""
    line = series({5: spread(middle)})
    assert verdicts.all_above([line], 0.95).answer is answer
    mirrored = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[answer]
    assert verdicts.all_below([line], 0.95).answer is mirrored


def test_one_point_decides_about_many_and_is_named() -> None:
    line = series({1: spread(0.99), 2: spread(0.93), 3: spread(0.95)})
    verdict = verdicts.all_above([line], 0.95)
    assert verdict.answer is FAILS
    assert "of 3 points, 1 are; the least clear: line at 2: 0.93 [0.9225, 0.9375]" in verdict.ours
    assert verdicts.all_above([line], 0.95, at=1).answer is HOLDS
    assert verdicts.all_above([line], 0.91).ours.startswith("of 3 points, lowest: line at 2")


def test_what_is_not_reached_or_has_no_interval_stays_open() -> None:
    assert verdicts.all_above([series({1: UNREACHED})], 0.5).answer is OPEN
    few = verdicts.all_above([series({1: [0.9, 0.9]})], 0.5)
    assert few.answer is OPEN
    assert "0.9" in few.ours
    partly = series({1: [*spread(0.9), *[math.nan] * 3]})
    assert "in 9 trials that reach" in verdicts.all_above([partly], 0.5).ours


def test_chance_at_one_of_many_points_is_no_failure() -> None:
    """Eight of nine trials below: 2·10/512 = 3.9 % for one point, but not for twenty."""
    unlucky = [0.94] * 8 + [0.96]
    assert verdicts.all_above([series({0: unlucky})], 0.95).answer is FAILS
    good: dict[float, list[float]] = {x: spread(0.99) for x in range(1, 20)}
    assert verdicts.all_above([series({**good, 0: unlucky})], 0.95).answer is OPEN
    many = [0.94] * 30
    assert verdicts.all_above([series({0: many}), series(good)], 0.95).answer is FAILS


def test_lines_are_compared_trial_by_trial() -> None:
    """Trials spread by 0.2, but each differs from its twin by 0.001."""
    upper = series({1: spread(0.5, 0.2), 2: spread(0.5, 0.2)}, "upper")
    lower = series({1: [v - 0.001 for v in spread(0.5, 0.2)], 2: UNREACHED}, "lower")
    assert verdicts.always_below(lower, [upper]) == Verdict(
        HOLDS, "lower is lower in 1 of 1 comparisons"
    )
    verdict = verdicts.always_below(upper, [lower])
    assert verdict.answer is FAILS
    assert "against lower at 1 the difference is 0.001 [0.001, 0.001]" in verdict.ours
    assert verdicts.always_below(upper, [upper]).answer is OPEN
    assert verdicts.always_below(series({1: UNREACHED}), [upper]).answer is OPEN


@pytest.mark.parametrize(("blend", "answer"), [(0.25, HOLDS), (0.375, FAILS), (0.0, HOLDS)])
def test_a_blend_is_compared_with_the_worse_group_of_each_trial(
    blend: float, answer: Answer
) -> None:
    """Of 0.125 and 0.3125, and turned round of 0.875 and 0.6875."""
    for lower_is_better in (True, False):

        def line(value: float, upright: bool = lower_is_better) -> Series:
            return series({1: [value if upright else 1 - value] * 9})

        groups = (line(0.125), line(0.3125))
        verdict = verdicts.not_the_worst(line(blend), groups, lower_is_better=lower_is_better)
        assert verdict.answer is answer
        equal = verdicts.not_the_worst(line(0.3125), groups, lower_is_better=lower_is_better)
        assert equal == Verdict(OPEN, "ndcg: better at 0 of 1 points, not shown at 1")


def test_falling_means_lower_at_the_end_and_higher_nowhere() -> None:
    steps: dict[float, list[float]] = {
        1: spread(0.5),
        2: spread(0.4),
        3: spread(0.4),
        4: spread(0.3),
    }
    assert verdicts.falls(series(steps)).answer is HOLDS
    rising = verdicts.falls(series({**steps, 3: spread(0.45)}))
    assert rising.answer is FAILS
    assert rising.ours.endswith("rising at 3")
    assert verdicts.falls(series({1: spread(0.5), 2: spread(0.5)})).answer is OPEN
    assert verdicts.falls(series({1: spread(0.5)})).answer is OPEN


def test_a_change_has_a_direction() -> None:
    line = series({1: spread(0.5), 2: spread(0.4), 3: UNREACHED})
    assert verdicts.changes(line, start=1, end=2, wanted=-1).answer is HOLDS
    assert verdicts.changes(line, start=1, end=2, wanted=1).answer is FAILS
    assert verdicts.changes(line, start=1, end=1, wanted=1).answer is OPEN
    assert verdicts.changes(line, start=1, end=3, wanted=1).answer is OPEN


def test_a_peak_is_told_apart_from_every_other_place_or_stays_open() -> None:
    noisy = [0.96, 0.93, 0.97, 0.95, 0.94, 0.98, 0.92, 0.96, 0.95]
    line = series({0.7: spread(0.95), 0.8: noisy, 0.9: spread(0.9)})
    for place in (0.7, 0.8):
        verdict = verdicts.peaks_at(line, place)
        assert verdict.answer is OPEN
        assert "not significantly below the highest: 0." in verdict.ours
    assert verdicts.peaks_at(line, 0.9).answer is FAILS
    clear = series({0.7: spread(0.9), 0.8: spread(0.95), 0.9: spread(0.93)})
    assert verdicts.peaks_at(clear, 0.8).answer is HOLDS
    assert verdicts.peaks_at(clear, 0.7).answer is FAILS


def test_too_few_trials_are_no_peak() -> None:
    assert verdicts.peaks_at(series({1: UNREACHED}), 1).answer is OPEN
    few = series({1: [0.9, 0.8], 2: [0.5, 0.4]})
    assert verdicts.peaks_at(few, 1).answer is OPEN
    assert verdicts.peaks_at(few, 2).answer is OPEN
    assert verdicts.peaks_at(series({1: UNREACHED, 2: spread(0.9)}), 1).answer is OPEN


def test_where_a_line_begins_is_said_with_the_trials_on_both_sides() -> None:
    line = series({3: UNREACHED, 4: [0.9, *UNREACHED[1:]], 5: spread(0.9), 6: spread(0.9)})
    assert verdicts.begins_at(line, 5) == Verdict(
        HOLDS, "begins at 5: reached in 1 of 9 trials at 4; reached in 9 of 9 trials at 5"
    )
    assert verdicts.begins_at(line, 4).answer is FAILS
    assert verdicts.begins_at(series({3: UNREACHED}), 3).answer is FAILS
    assert verdicts.reached_at(line, 6).answer is HOLDS
    assert verdicts.reached_at(line, 4) == Verdict(FAILS, "reached in 1 of 9 trials at 4")


def test_the_worst_verdict_of_several_counts() -> None:
    holds, fails, undecided = Verdict(HOLDS, "a"), Verdict(FAILS, "b"), Verdict(OPEN, "c")
    assert verdicts.all_of([holds, fails, undecided]) == Verdict(FAILS, "a; b; c")
    assert verdicts.all_of([holds, undecided]).answer is OPEN
    assert verdicts.all_of([holds, holds]).answer is HOLDS


def test_a_median_is_written_with_its_interval_if_it_has_one() -> None:
    assert verdicts.shown(Median(0.123456, 0.1, 0.2)) == "0.1235 [0.1, 0.2]"
    assert verdicts.shown(Median(0.5, math.nan, math.nan)) == "0.5"
    assert verdicts.shown(Median(math.nan, math.nan, math.nan)) == "no value"
