"""Inverse questions: the opt-in share, the ε or the relay share with which a goal is met."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from blender_dp.core.blender import PRESETS, no_progress
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.engine.population.group_sizes import FEWEST_OPT_IN
from blender_dp.planning.prediction import Done, Prediction, Setting, predict
from blender_dp.planning.prior import Prior

Varied = Literal["opt_in", "epsilon", "relay"]
KNOB_NAMES: dict[Varied, str] = {"opt_in": "opt-in share", "epsilon": "ε", "relay": "relay share"}
MOST_OPT_IN = 0.5
EPSILONS = (0.1, 16.0)
"""Range of ε that is searched."""
RELAY_SHARES = (0.01, 1.0)
"""Range of the share of clients who use a relay that is searched."""
LEAST_LIST = 10
"""Shortest list that can meet an NDCG target: a few queries are easily in order."""
_STEPS, _REFINEMENTS, _DRAWS = 7, 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Goal of a plan: an NDCG, a list size, an L1 of the queries, or some of them together."""

    ndcg: float = 0.0
    queries: int = LEAST_LIST
    query_l1: float = math.inf
    """The largest L1 of the queries that meets the goal."""

    def __post_init__(self) -> None:
        if not 0 <= self.ndcg < 1:
            raise ParameterError("target_ndcg", "at least 0 and below 1", self.ndcg)
        if not isinstance(self.queries, int) or self.queries < 1:
            raise ParameterError(
                "target_size", "a whole number of queries, at least 1", self.queries
            )
        if not self.query_l1 > 0:
            raise ParameterError("target_l1", "above 0", self.query_l1)

    def met(self, *, ndcg: float, queries: float, query_l1: float) -> float:
        """Return the share of the goal that is met; 1 or more if it is met."""
        return min(
            ndcg / self.ndcg if self.ndcg else math.inf,
            queries / self.queries,
            self.query_l1 / query_l1 if query_l1 else math.inf,
        )

    def met_by(self, prediction: Prediction) -> float:
        """Return the predicted share of the goal that is met."""
        return self.met(
            **{name: prediction.measures[name].mean for name in ("ndcg", "queries", "query_l1")}
        )

    def met_at(self, answer: "Answer") -> float:
        """Return the share of the goal that an answer meets."""
        return self.met(ndcg=answer.ndcg, queries=answer.queries, query_l1=answer.query_l1)

    def knobs(self, setting: Setting) -> tuple[Varied, ...]:
        """Return the parameters that may meet the goal; a relay only makes errors smaller."""
        takes_relay = PRESETS[setting.parameters.preset].takes_relay_clients
        asks_for_error = self.query_l1 < math.inf and takes_relay
        return ("opt_in", "epsilon", "relay") if asks_for_error else ("opt_in", "epsilon")

    def words(self) -> str:
        """Return the goal as a phrase."""
        wanted = f"a list of {self.queries:,} queries"
        also = [f"an NDCG of {self.ndcg:g}"] if self.ndcg else []
        also += [f"a query L1 of {self.query_l1:g}"] if self.query_l1 < math.inf else []
        return f"{wanted} with {' and '.join(also)}" if also else wanted


def target_of(
    ndcg: float | None, size: int | None, query_l1: float | None, *, most: int | None = None
) -> Target | None:
    """Return the goal, or None where no part of one is given.

    Args:
        ndcg: The least NDCG.
        size: The fewest queries on the list.
        query_l1: The largest L1 of the queries.
        most: M, the most queries that the list keeps; a goal beyond it is refused.
    """
    if ndcg is None and size is None and query_l1 is None:
        return None
    target = Target(
        ndcg=0.0 if ndcg is None else ndcg,
        queries=LEAST_LIST if size is None else size,
        query_l1=math.inf if query_l1 is None else query_l1,
    )
    if most is not None and most < target.queries:
        rule = f"left out or at least {target.queries:,}, the queries of the target"
        raise ParameterError("head_list_size", rule, most)
    return target


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Least value of one parameter that meets a target; all others are unchanged."""

    varied: Varied
    value: float | None
    """None if no value meets it; the other fields are then about the nearest value."""
    nearest: float
    """``value``, or the nearest value if none meets the target."""
    opt_in_users: int
    """Number of opt-in users at ``nearest``."""
    ndcg: float
    """NDCG predicted at ``nearest``."""
    queries: float
    query_l1: float


def reach(
    prior: Prior,
    setting: Setting,
    target: Target,
    varied: Varied,
    *,
    seed: int = 0,
    progress: Done = no_progress,
) -> Answer:
    """Search the least value of a parameter with which the target is met.

    A coarse search upwards on a logarithmic scale, then bisection between the last value that
    missed and the first that met. The coarse search is needed because the measure need not be
    monotone.

    Args:
        prior: The assumed distribution of records.
        setting: The collection; its value of the varied parameter is ignored.
        target: The goal.
        varied: The parameter to vary.
        seed: Seed of the imagined users, the same at every value.
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
        query_l1=there.measures["query_l1"].mean,
    )


def varying(setting: Setting, varied: Varied, value: float) -> Setting:
    """Return the setting with another opt-in share, ε or relay share."""
    if varied == "opt_in":
        return replace(setting, opt_in=value)
    if varied == "relay":
        return replace(setting, relay=replace(setting.relay, share=value))
    return replace(setting, parameters=replace(setting.parameters, epsilon=value))


def require_reached(target: Target, answers: Sequence[Answer]) -> None:
    """Refuse a target that no value reaches; the message names the nearest one."""
    if any(answer.value is not None for answer in answers):
        return
    best = max(answers, key=target.met_at)
    tried = f"no opt-in share up to {MOST_OPT_IN:g} and no ε up to {EPSILONS[1]:g}"
    if any(answer.varied == "relay" for answer in answers):
        tried = tried.replace(" and", ",") + " and no relay share"
    article = "a" if best.varied == "relay" else "an"
    error = f" and a query L1 of {best.query_l1:.3g}" if target.query_l1 < math.inf else ""
    raise BlenderError(
        f"{tried} reaches {target.words()}; the best is a list of {best.queries:,.0f} with an NDCG "
        f"of {best.ndcg:.3f}{error}, at {article} {KNOB_NAMES[best.varied]} of {best.nearest:g}"
    )


def _halved(missed: float, met: float, is_met: Callable[[float], bool]) -> float:
    for _ in range(_REFINEMENTS if missed < met else 0):
        middle = math.sqrt(missed * met)
        missed, met = (missed, middle) if is_met(middle) else (middle, met)
    return met


def _range(setting: Setting, varied: Varied) -> tuple[float, float]:
    if varied != "opt_in":
        return EPSILONS if varied == "epsilon" else RELAY_SHARES
    return min(max(FEWEST_OPT_IN + 1, 100) / setting.users, MOST_OPT_IN / 2), MOST_OPT_IN


def _rounded_up(knob: float, most: float) -> float:
    """Round up to three digits, so that ε has few digits and repeated searches agree."""
    digits = 2 - math.floor(math.log10(knob))
    scale = 10.0**digits
    return min(math.ceil(round(knob * scale, 6)) / scale, most)
