"""Plan of a collection: a prediction of its results before anything is collected."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import Release
from blender_dp.core.parameters import KNOBS, Parameters, Preset, delta_warning
from blender_dp.planning.choices import Choices, choices, choose_fractions
from blender_dp.planning.prediction import MODEL_ERROR, Prediction, Setting, predict
from blender_dp.planning.prior import Prior, prior_like
from blender_dp.planning.release_prior import prior_of_release
from blender_dp.planning.targets import (
    EPSILONS,
    LEAST_LIST,
    MOST_OPT_IN,
    Answer,
    Target,
    Varied,
    reach,
    require_reached,
    varying,
)

Curve = Literal["none", "opt_in", "epsilon"]
_CURVE_FACTORS = (0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0)
_CURVE_DRAWS = 3

Step = Callable[[str, float], None]
"""Called with the current step and the share of it that is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Prediction of a collection, recommended settings, and settings that would meet a goal."""

    like: str
    """Source of the assumed records."""
    prediction: Prediction
    """Predicted measures, with ranges and the prediction's own error."""
    choices: Choices
    """Settings to choose, or that will be chosen automatically."""
    target: Target | None
    """The goal, if there was one."""
    answers: tuple[Answer, ...]
    """How to meet the goal: by more opt-in users, and by a larger ε."""
    curve_of: Curve
    """Parameter that varies along the curve."""
    curve: tuple[Prediction, ...]
    """Predictions for several values of one parameter."""
    seed: int
    """Seed of the imagined users."""

    @property
    def remarks(self) -> list[str]:
        """Remarks for the reader besides the numbers."""
        asked, drawn = self.prediction.setting.users, self.prediction.imagined_users
        said = [
            f"The plan assumes records like {self.like}. Yours may differ from them. The "
            "stated errors are those of the plan itself."
        ]
        if drawn < asked:
            said.append(
                f"Computed for {drawn:,} of the {asked:,} users: the list may be longer, and "
                "errors were scaled by 1/√users."
            )
        warning = delta_warning(self.prediction.setting.parameters.delta, asked)
        if warning is not None:
            said.append(warning)
        return said

    def document(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; None where a number is missing."""
        return {
            "format": "blender-dp plan",
            "version": 1,
            "like": self.like,
            "seed": self.seed,
            "model_error": dict(MODEL_ERROR),
            **_row(self.prediction),
            "parameters": self.prediction.setting.parameters.document(),
            "choices": asdict(self.choices),
            "target": None if self.target is None else asdict(self.target),
            "answers": [asdict(answer) for answer in self.answers],
            "curve": {"of": self.curve_of, "points": [_row(point) for point in self.curve]},
            "remarks": self.remarks,
        }


def plan(  # noqa: PLR0913 - the questions of a plan are its arguments
    *,
    users: int,
    epsilon: float,
    delta: float,
    opt_in: float = 0.05,
    like: str | Release = "aol",
    preset: Preset = "sharp",
    head_list_size: int | None = None,
    records_per_user: float | None = None,
    target_ndcg: float | None = None,
    target_size: int | None = None,
    curve: Curve = "none",
    draws: int | None = None,
    seed: int = 0,
    progress: Step | None = None,
) -> Plan:
    """Predict the results of a collection, without any user's data.

    The algorithm itself is run on imagined users; in ``paper`` f_O and f_C are chosen first.
    Nothing is spent: only public numbers and assumptions go in.

    Args:
        users: Number of all users.
        epsilon: ε.
        delta: δ.
        opt_in: Share of the users who opt in.
        like: Shape of the assumed records: aol, yandex, zipf, zipf:s, aol-single, aol-multi, or an
            earlier release.
        preset: sharp or paper.
        head_list_size: M, the most queries to keep; all that are found if left out.
        records_per_user: Records of an average user; the shape's own number, 1 for a release.
        target_ndcg: Find the opt-in share and the ε that reach this NDCG, on a list of ten or more.
        target_size: Find the opt-in share and the ε that reach a list of this many queries.
        curve: Also predict for several values of this parameter.
        draws: Number of imagined collections; 3 to 20 if left out.
        seed: Seed of the imagined users; the same seed gives the same plan.
        progress: Called with the current step and the share of it that is done.
    """
    parameters = Parameters(
        epsilon=epsilon, delta=delta, preset=preset, head_list_size=head_list_size
    )
    setting = Setting(users=users, opt_in=opt_in, parameters=parameters)
    target = _target(target_ndcg, target_size)
    progress = progress or no_progress
    progress("prepare the assumed records", 0.0)
    if isinstance(like, Release):
        prior = prior_of_release(like, records_per_user)
    else:
        prior = prior_like(like, records_per_user)
    if "query_budget_fraction" in KNOBS[preset]:
        progress("choose f_O and f_C", 0.0)
        setting = replace(setting, parameters=choose_fractions(prior, setting, seed))
    prediction = predict(
        prior, setting, draws=draws, seed=seed, progress=partial(progress, "predict")
    )
    return Plan(
        like=prior.source,
        prediction=prediction,
        choices=choices(prediction),
        target=target,
        answers=_answers(prior, setting, target, seed, progress),
        curve_of=curve,
        curve=_curve(prior, setting, curve, seed, progress),
        seed=seed,
    )


def _target(ndcg: float | None, size: int | None) -> Target | None:
    if ndcg is None and size is None:
        return None
    return Target(ndcg=0.0 if ndcg is None else ndcg, queries=LEAST_LIST if size is None else size)


def _answers(
    prior: Prior, setting: Setting, target: Target | None, seed: int, progress: Step
) -> tuple[Answer, ...]:
    """Return two answers: by more opt-in users, and by a larger ε."""
    if target is None:
        return ()
    knobs: tuple[tuple[Varied, str], ...] = (
        ("opt_in", "search the opt-in share"),
        ("epsilon", "search ε"),
    )
    answers = [
        reach(prior, setting, target, knob, seed=seed, progress=partial(progress, step))
        for knob, step in knobs
    ]
    require_reached(target, answers)
    return tuple(answers)


def _curve(
    prior: Prior, setting: Setting, curve: Curve, seed: int, progress: Step
) -> tuple[Prediction, ...]:
    if curve == "none":
        return ()
    if curve not in ("opt_in", "epsilon"):
        raise ParameterError("curve", "none, opt_in or epsilon", curve)
    now, most = (
        (setting.opt_in, MOST_OPT_IN)
        if curve == "opt_in"
        else (setting.parameters.epsilon, EPSILONS[1])
    )
    most = max(most, now)
    values = sorted({float(f"{min(now * factor, most):.3g}") for factor in _CURVE_FACTORS})
    points = []
    for number, value in enumerate(values):
        there = varying(setting, curve, value)
        points.append(predict(prior, there, draws=_CURVE_DRAWS, seed=seed))
        progress("draw the curve", (number + 1) / len(values))
    return tuple(points)


def _row(prediction: Prediction) -> dict[str, Any]:
    setting = prediction.setting
    return {
        "users": setting.users,
        "opt_in": setting.opt_in,
        "opt_in_users": setting.opted_in,
        "epsilon": setting.parameters.epsilon,
        "delta": setting.parameters.delta,
        "draws": prediction.draws,
        "imagined_users": prediction.imagined_users,
        "measures": {
            name: {key: _number(value) for key, value in asdict(one).items()}
            for name, one in prediction.measures.items()
        },
        "known_queries": prediction.known_queries,
        "branch": prediction.branch,
        "query_share": prediction.query_share,
    }


def _number(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124 - not a number is not itself
