"""Verdicts on the paper's statements: each holds in the trials, does not hold, or stays open.

Every comparison uses an interval: of a median, or of the median difference of trials with the same
randomness. A statement about many points holds if it holds at each of them. It fails if it is
wrong at one of them. The intervals are wide enough that chance makes a statement fail in at most
one of twenty reproductions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from blender_dp.core.head_list.cells import FloatArray
from blender_dp.evaluation.reproduction.medians import CONFIDENCE, Median, median_of
from blender_dp.evaluation.reproduction.series import Point, Series


class Answer(StrEnum):
    """Outcome of checking a statement."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "undecided"
    ELSEWHERE = "other data"


class Verdict(NamedTuple):
    """Outcome of checking a statement, and the numbers behind it."""

    answer: Answer
    ours: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the paper that trials can answer."""

    statement: str
    """Id of the statement in ``reproduction/published.json``."""
    check: Callable[..., Verdict]
    """Checks the results of the figure."""
    why: str = ""
    """Known reason, shown if the statement does not hold or stays open."""
    is_headline: bool = False


def all_above(series: Iterable[Series], least: float, *, at: float | None = None) -> Verdict:
    """Tell whether lines lie above a number, at one position or at all drawn points."""
    return _on_one_side(_points(series, at), least, wanted=1)


def all_below(series: Iterable[Series], most: float, *, at: float | None = None) -> Verdict:
    """Tell whether lines lie below a number."""
    return _on_one_side(_points(series, at), most, wanted=-1)


def always_below(lower: Series, upper: Sequence[Series]) -> Verdict:
    """Tell whether one line lies below each of the others, trial by trial."""
    found = [
        (other.label, lower.where(point.x), point.values - other.at(point.x).values)
        for other in upper
        for point in lower.shown()
        if other.at(point.x).is_shown
    ]
    differences = [difference for _, _, difference in found]
    holding = sum(_side(difference) < 0 for difference in differences)
    sentence = f"{lower.label} is lower in {holding} of {len(found)} comparisons"
    if holding < len(found):
        label, where, worst = max(found, key=lambda item: float(np.nanmedian(item[2])))
        sentence += f"; against {label} at {where} the difference is {shown(median_of(worst))}"
    return Verdict(_answer(differences, wanted=-1), sentence)


def not_the_worst(
    blend: Series, groups: tuple[Series, Series], *, lower_is_better: bool
) -> Verdict:
    """Tell whether the blend is better than the worse of both groups, trial by trial."""
    turn = 1 if lower_is_better else -1
    differences = {
        blend.where(point.x): turn * point.values
        - np.fmax(*(turn * group.at(point.x).values for group in groups))
        for point in blend.shown()
    }
    unclear = [where for where, difference in differences.items() if _side(difference) >= 0]
    total = len(differences)
    sentence = f"{blend.measure}: better at {total - len(unclear)} of {total} points"
    if unclear:
        sentence += f", not shown at {', '.join(unclear)}"
    return Verdict(_answer(list(differences.values()), wanted=-1), sentence)


def falls(series: Series) -> Verdict:
    """Tell whether a line falls from its first point to its last, and rises nowhere between."""
    points = series.shown()
    if len(points) < 2:
        return Verdict(Answer.OPEN, f"{series.label} has fewer than two points")
    confidence = _for_all(len(points) - 1)
    rises = [
        series.where(after.x)
        for before, after in pairwise(points)
        if _side(after.values - before.values, confidence) > 0
    ]
    whole = _answer([points[-1].values - points[0].values], wanted=-1)
    first, last = (_placed(series, point) for point in (points[0], points[-1]))
    rising = f", rising at {', '.join(rises)}" if rises else ""
    return Verdict(Answer.FAILS if rises else whole, f"{series.label}: {first}, {last}{rising}")


def changes(series: Series, *, start: float, end: float, wanted: int) -> Verdict:
    """Tell whether a line is higher (wanted = 1) or lower (-1) at one position than at another."""
    before, after = series.at(start), series.at(end)
    sentence = f"{series.label}: {_placed(series, before)}, {_placed(series, after)}"
    if not (before.is_shown and after.is_shown):
        return Verdict(Answer.OPEN, f"{series.label}: the list size is not reached")
    return Verdict(_answer([after.values - before.values], wanted), sentence)


def peaks_at(series: Series, x: float) -> Verdict:
    """Tell whether a line is highest at ``x``.

    It holds if ``x`` is significantly above every other position, and fails if it is significantly
    below the highest one. Otherwise it stays open: too few trials are no evidence of a peak.
    """
    points = series.shown()
    if not points or not series.at(x).is_shown:
        return Verdict(Answer.OPEN, f"{series.label}: the list size is not reached")
    best = max(points, key=lambda point: point.median.value)
    near = [p.x for p in points if p is not best and _side(p.values - best.values) == 0]
    sentence = f"highest: {_placed(series, best)}; {_placed(series, series.at(x))}"
    if near:
        others = ", ".join(f"{other:g}" for other in near)
        sentence += f"; not significantly below the highest: {others}"
    confidence = _for_all(max(len(points) - 1, 1))
    if best.x != x and _side(series.at(x).values - best.values, confidence) < 0:
        return Verdict(Answer.FAILS, sentence)
    is_alone = best.x == x and not near and not np.isnan(best.median.low)
    return Verdict(Answer.HOLDS if is_alone else Answer.OPEN, sentence)


def begins_at(series: Series, x: float) -> Verdict:
    """Tell whether ``x`` is the first position where the list size is reached."""
    points = series.shown()
    if not points:
        return Verdict(Answer.FAILS, f"{series.label} is never reached")
    first = points[0]
    around = "; ".join(
        f"reached in {p.reached} of {len(p.values)} trials at {series.where(p.x)}"
        for p in series.points
        if p is first or (p.x < first.x and series.points[series.points.index(p) + 1] is first)
    )
    return Verdict(
        Answer.HOLDS if first.x == x else Answer.FAILS,
        f"begins at {series.where(first.x)}: {around}",
    )


def reached_at(series: Series, x: float) -> Verdict:
    """Tell whether the list size is reached at ``x``."""
    point = series.at(x)
    sentence = f"reached in {point.reached} of {len(point.values)} trials at {series.where(x)}"
    return Verdict(Answer.HOLDS if point.is_shown else Answer.FAILS, sentence)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Join verdicts: one that fails decides; otherwise one that is open does."""
    order = (Answer.FAILS, Answer.OPEN, Answer.HOLDS)
    answer = min((verdict.answer for verdict in verdicts), key=order.index)
    return Verdict(answer, "; ".join(verdict.ours for verdict in verdicts))


def shown(median: Median, digits: int = 4) -> str:
    """Return a median with its interval, for a person."""
    if np.isnan(median.value):
        return "no value"
    value, low, high = (f"{number:.{digits}g}" for number in median)
    return value if np.isnan(median.low) else f"{value} [{low}, {high}]"


def _placed(series: Series, point: Point) -> str:
    return f"{shown(point.median)} at {series.where(point.x)}"


def _points(series: Iterable[Series], at: float | None) -> list[tuple[Series, Point]]:
    return [(s, p) for s in series for p in s.shown() if at is None or p.x == at]


def _side(values: FloatArray, confidence: float = CONFIDENCE) -> int:
    """Return the sign of the interval of the median; 0 if it contains zero or is unknown."""
    median = median_of(values, confidence)
    return int(median.low > 0) - int(median.high < 0)


def _for_all(comparisons: int) -> float:
    """Return the confidence that each of many intervals needs so that all are right at once."""
    return 1 - (1 - CONFIDENCE) / comparisons


def _answer(samples: Sequence[FloatArray], wanted: int) -> Answer:
    """Judge samples whose medians should all be above (wanted = 1) or below (-1) zero."""
    if samples and all(_side(values) == wanted for values in samples):
        return Answer.HOLDS
    if any(_side(values, _for_all(len(samples))) == -wanted for values in samples):
        return Answer.FAILS
    return Answer.OPEN


def _on_one_side(points: list[tuple[Series, Point]], bound: float, wanted: int) -> Verdict:
    """Judge points that should lie above (wanted = 1) or below (-1) a bound."""
    if not points:
        return Verdict(Answer.OPEN, "the list size is not reached in half of the trials")
    samples = [point.values - bound for _, point in points]
    right = [_side(values) == wanted for values in samples]

    def reserve(at: int) -> tuple[bool, float]:
        return right[at], wanted * points[at][1].median.value

    series, point = points[min(range(len(points)), key=reserve)]
    sentence = f"{series.label} at {series.where(point.x)}: {shown(point.median)}"
    if len(points) > 1:
        extreme = "lowest" if wanted > 0 else "highest"
        kind = extreme if all(right) else f"{sum(right)} are; the least clear"
        sentence = f"of {len(points)} points, {kind}: {sentence}"
    if point.reached < len(point.values):
        sentence += f" (in {point.reached} trials that reach the list size)"
    return Verdict(_answer(samples, wanted), sentence)
