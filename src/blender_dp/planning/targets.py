"""Inverse questions: how many users must opt in, or which ε, for a goal to be met."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.engine.population.group_sizes import FEWEST_OPT_IN
from blender_dp.planning.prediction import Done, Prediction, Setting, predict
from blender_dp.planning.prior import Prior

Varied = Literal["opt_in", "epsilon"]
MOST_OPT_IN = 0.5
EPSILONS = (0.1, 16.0)
"""The ε that are looked at."""
LEAST_LIST = 10
"""A list shorter than this meets no NDCG: a few queries are easily put in order."""
_STEPS, _REFINEMENTS, _DRAWS = 7, 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Goal of a plan: an NDCG, a list size, or both."""

    ndcg: float = 0.0
    queries: int = LEAST_LIST

    def __post_init__(self) -> None:
        if not 0 <= self.ndcg < 1:
            raise ParameterError("target_ndcg", "at least 0 and below 1", self.ndcg)
        if not isinstance(self.queries, int) or self.queries < 1:
            raise ParameterError(
                "target_size", "a whole number of queries, at least 1", self.queries
            )

    def met(self, *, ndcg: float, queries: float) -> float:
        """Return the share of the goal that is met; 1 or more if all of it is."""
        return min(ndcg / self.ndcg if self.ndcg else math.inf, queries / self.queries)

    def met_by(self, prediction: Prediction) -> float:
        """Return which share of it is predicted to be met."""
        measures = prediction.measures
        return self.met(ndcg=measures["ndcg"].mean, queries=measures["queries"].mean)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The least value of one knob that meets a target, all else as it was."""

    varied: Varied
    value: float | None
    """None if no value does; the rest is then about the one that comes nearest."""
    nearest: float
    """The same value, or the one that comes nearest."""
    opt_in_users: int
    """How many users opt in there."""
    ndcg: float
    """What is predicted there."""
    queries: float


def reach(
    prior: Prior,
    setting: Setting,
    target: Target,
    varied: Varied,
    *,
    seed: int = 0,
    progress: Done = no_progress,
) -> Answer:
    """Search the least value of a knob with which the target is met.

    A coarse walk upwards on a logarithmic scale, then halving between the last value that missed
    and the first that met: what is wanted need not rise everywhere.

    Args:
        prior: What records are thought to look like.
        setting: The collection; the varied knob is ignored.
        target: What is wanted.
        varied: The knob.
        seed: The same imagined users at every value.
        progress: Called with the share of the work that is done.
    """
    low, high = _range(setting, varied)
    seen: dict[float, Prediction] = {}

    def is_met(knob: float) -> bool:
        knob = _rounded_up(knob, high)
        if knob not in seen:
            seen[knob] = predict(prior, varying(setting, varied, knob), draws=_DRAWS, seed=seed)
            progress(min(len(seen) / (_STEPS + _REFINEMENTS), 1.0))
        return target.met_by(seen[knob]) >= 1

    ratio = (high / low) ** (1 / (_STEPS - 1))
    steps = [low * ratio**i for i in range(_STEPS)]
    first = next((i for i, knob in enumerate(steps) if is_met(knob)), None)
    if first is None:
        nearest, value = max(seen, key=lambda knob: target.met_by(seen[knob])), None
    else:
        met = _halved(steps[max(first - 1, 0)], steps[first], is_met)
        nearest = value = _rounded_up(met, high)
    progress(1.0)
    there = seen[nearest]
    return Answer(
        varied=varied,
        value=value,
        nearest=nearest,
        opt_in_users=there.setting.opted_in,
        ndcg=there.measures["ndcg"].mean,
        queries=there.measures["queries"].mean,
    )


def varying(setting: Setting, varied: Varied, value: float) -> Setting:
    """Return the setting with another opt-in share or ε."""
    if varied == "opt_in":
        return replace(setting, opt_in=value)
    return replace(setting, parameters=replace(setting.parameters, epsilon=value))


def require_reached(target: Target, answers: Sequence[Answer]) -> None:
    """Refuse a target that nothing reaches, and say what could be."""
    if any(answer.value is not None for answer in answers):
        return
    best = max(answers, key=lambda one: target.met(ndcg=one.ndcg, queries=one.queries))
    knob = "opt-in share" if best.varied == "opt_in" else "ε"
    wanted = f"a list of {target.queries:,} queries"
    if target.ndcg:
        wanted += f" with an NDCG of {target.ndcg:g}"
    raise BlenderError(
        f"no opt-in share up to {MOST_OPT_IN:g} and no ε up to {EPSILONS[1]:g} reaches {wanted}; "
        f"the best is a list of {best.queries:,.0f} with an NDCG of {best.ndcg:.3f}, at an {knob} "
        f"of {best.nearest:g}"
    )


def _halved(missed: float, met: float, is_met: Callable[[float], bool]) -> float:
    for _ in range(_REFINEMENTS if missed < met else 0):
        middle = math.sqrt(missed * met)
        missed, met = (missed, middle) if is_met(middle) else (middle, met)
    return met


def _range(setting: Setting, varied: Varied) -> tuple[float, float]:
    if varied == "epsilon":
        return EPSILONS
    return min(max(FEWEST_OPT_IN + 1, 100) / setting.users, MOST_OPT_IN / 2), MOST_OPT_IN


def _rounded_up(knob: float, most: float) -> float:
    """Return the next number of three digits: exact ε of few digits, and the same one again."""
    digits = 2 - math.floor(math.log10(knob))
    scale = 10.0**digits
    return min(math.ceil(round(knob * scale, 6)) / scale, most)
