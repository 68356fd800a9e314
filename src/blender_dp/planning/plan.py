"""Plan of a collection: a prediction of its results before anything is collected."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

from blender_dp.core.blender import PRESETS, no_progress
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import Release
from blender_dp.core.parameters import KNOBS, ListOf, Parameters, Preset, delta_warning
from blender_dp.planning.choices import Choices, choices, choose_fractions
from blender_dp.planning.curve import Curve, Step, curve_along
from blender_dp.planning.prediction import MODEL_ERROR, Prediction, Setting, predict
from blender_dp.planning.prior import Prior, prior_like
from blender_dp.planning.release_prior import prior_of_release
from blender_dp.planning.targets import (
    KNOB_NAMES,
    Answer,
    Target,
    reach,
    require_reached,
    target_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Prediction of a collection, recommended settings, and settings that would meet a goal."""

    like: str
    """Source of the assumed records."""
    is_like_release: bool
    """Whether they are those of an earlier release."""
    prediction: Prediction
    """Predicted measures, with ranges and the prediction's own error."""
    without_relay: Prediction | None
    """The same users if no client uses a relay; None if none does."""
    choices: Choices
    """Settings to choose, or that will be chosen automatically."""
    target: Target | None
    """The goal, if there was one."""
    answers: tuple[Answer, ...]
    """How to meet the goal: by more opt-in users, a larger ε or, for errors, a relay."""
    curve_of: Curve
    """Parameter that varies along the curve."""
    curve: tuple[Prediction, ...]
    """Predictions for several values of one parameter."""
    curve_without_relay: tuple[Prediction, ...]
    """The same if no client uses a relay; empty if none does, one point along the relay share."""
    seed: int
    """Seed of the imagined users."""

    @property
    def remarks(self) -> list[str]:
        """Remarks for the reader besides the numbers."""
        asked, drawn = self.prediction.setting.users, self.prediction.imagined_users
        assumed = "those of the release" if self.is_like_release else self.like
        said = [
            f"The plan assumes records like {assumed}. Yours may differ from them. The "
            "stated errors are those of the plan itself."
        ]
        if self.is_like_release:
            chosen = PRESETS[self.prediction.setting.parameters.preset].parts_users
            fractions = ", f_O and f_C included" if chosen else ""
            said.append(
                f"It predicts the release it was made from at the same numbers{fractions}. The "
                "more users or ε differ from it, the more it depends on how popularities go on "
                "below the list."
            )
        if self.prediction.setting.parameters.list_of == "queries":
            said.append("Queries are listed, without URLs.")
        elif self.prediction.lists_only_queries:
            said.append("The noisy number chose to list queries, without URLs, in every draw.")
        if self.prediction.setting.known:
            said.append("The list of an earlier collection of the same kind is taken for known.")
        if drawn < asked:
            said.append(
                f"Computed for {drawn:,} of the {asked:,} users: the list may be longer, and "
                "errors were scaled by 1/√users."
            )
        warning = delta_warning(self.prediction.setting.parameters.delta, asked)
        if warning is not None:
            said.append(warning)
        return said

    @property
    def relay_sentence(self) -> str | None:
        """What relay clients would be promised; None without a relay."""
        setting, alone = self.prediction.setting, self.prediction.report_epsilon
        if alone is None:
            return None
        parameters = setting.parameters
        return (
            f"{setting.relay_clients:,} clients; ε = {parameters.epsilon:g} and δ = "
            f"{parameters.delta:g} as long as the relay does not work together with the "
            f"collector; ε = {alone:g} if they do."
        )

    def document(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; None where a number is missing."""
        return {
            "format": "blender-dp plan",
            "version": 1,
            "like": self.like,
            "seed": self.seed,
            "model_error": dict(MODEL_ERROR),
            **_row(self.prediction),
            "relay_rules": asdict(self.prediction.setting.relay),
            "relay_sentence": self.relay_sentence,
            "without_relay": None if self.without_relay is None else _row(self.without_relay),
            "parameters": self.prediction.setting.parameters.document(),
            "choices": asdict(self.choices),
            "target": None if self.target is None else _finite(asdict(self.target)),
            "answers": [_finite(asdict(answer)) for answer in self.answers],
            "curve": {
                "of": self.curve_of,
                "points": [_row(point) for point in self.curve],
                "without_relay": [_row(point) for point in self.curve_without_relay],
            },
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
    list_of: ListOf | None = None,
    records_per_user: float | None = None,
    target_ndcg: float | None = None,
    target_size: int | None = None,
    target_l1: float | None = None,
    relay: RelayRules | float = 0.0,
    known: bool = False,
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
        like: Shape of the assumed records: aol, yandex, zipf, zipf:s, flat, aol-single, aol-multi,
            or an earlier release.
        preset: sharp or paper.
        head_list_size: M, the most queries to keep; all that are found if left out.
        list_of: List records, or queries without URLs, or auto; what an earlier release lists, else
            records, if left out.
        records_per_user: Records of an average user; as the shape or release says if left out.
        target_ndcg: Find the opt-in share and the ε that reach this NDCG, on a list of ten or more.
        target_size: Find the opt-in share and the ε that reach a list of this many queries.
        target_l1: Find the opt-in share, the ε and the relay share with at most this query L1.
        relay: The share of the clients who use a relay, or :class:`RelayRules`; the same users
            without a relay are predicted too.
        known: Take the list of an earlier collection of the same kind for known.
        curve: Also predict for several values of this parameter.
        draws: Number of imagined collections; 3 to 20 if left out.
        seed: Seed of the imagined users; the same seed gives the same plan.
        progress: Called with the current step and the share of it that is done.
    """
    parameters = Parameters(
        epsilon=epsilon,
        delta=delta,
        preset=preset,
        head_list_size=head_list_size,
        list_of=_list_of(list_of, like, preset),
    )
    relay = relay if isinstance(relay, RelayRules) else RelayRules(share=relay)
    setting = Setting(users=users, opt_in=opt_in, parameters=parameters, relay=relay, known=known)
    target = target_of(target_ndcg, target_size, target_l1, most=head_list_size)
    progress = progress or no_progress
    progress("prepare the assumed records", 0.0)
    prior = _prior(like, records_per_user)
    if "query_budget_fraction" in KNOBS[preset]:
        progress("choose f_O and f_C", 0.0)
        setting = replace(setting, parameters=choose_fractions(prior, setting, seed))
    prediction = predict(
        prior, setting, draws=draws, seed=seed, progress=partial(progress, "predict")
    )
    without = None
    if setting.relay_clients:
        step = partial(progress, "predict without a relay")
        without = predict(prior, setting.without_relay(), draws=draws, seed=seed, progress=step)
    points, points_without = curve_along(prior, setting, curve, seed=seed, progress=progress)
    return Plan(
        like=prior.source,
        is_like_release=prior.is_fitted,
        prediction=prediction,
        without_relay=without,
        choices=choices(prediction),
        target=target,
        answers=_answers(prior, setting, target, seed, progress),
        curve_of=curve,
        curve=points,
        curve_without_relay=points_without,
        seed=seed,
    )


def _prior(like: str | Release, records_per_user: float | None) -> Prior:
    """Return the assumed records: those of a shape, or like those of an earlier release."""
    if isinstance(like, Release):
        return prior_of_release(like, records_per_user)
    return prior_like(like, records_per_user)


def _list_of(asked: ListOf | None, like: str | Release, preset: Preset) -> ListOf:
    """Return what is listed: as asked, or as an earlier release does."""
    if isinstance(like, str) or not like.lists_queries:
        return "records" if asked is None else asked
    if preset in KNOBS and "list_of" not in KNOBS[preset]:
        rule = "left out after a release that lists queries, which only its own preset does"
        raise ParameterError("preset", rule, preset)
    if asked not in (None, "queries"):
        rule = "queries or left out after a release that lists queries, as it says nothing of URLs"
        raise ParameterError("list_of", rule, asked)
    return "queries"


def _answers(
    prior: Prior, setting: Setting, target: Target | None, seed: int, progress: Step
) -> tuple[Answer, ...]:
    """Return an answer for each parameter that may meet the goal."""
    if target is None:
        return ()
    answers = []
    for knob in target.knobs(setting):
        step = "search ε" if knob == "epsilon" else f"search the {KNOB_NAMES[knob]}"
        told = partial(progress, step)
        answers.append(reach(prior, setting, target, knob, seed=seed, progress=told))
    require_reached(target, answers)
    return tuple(answers)


def _row(prediction: Prediction) -> dict[str, Any]:
    setting = prediction.setting
    return {
        "users": setting.users,
        "opt_in": setting.opt_in,
        "opt_in_users": setting.opted_in,
        "epsilon": setting.parameters.epsilon,
        "delta": setting.parameters.delta,
        "relay": setting.relay.share,
        "relay_clients": setting.relay_clients,
        "known_list": setting.known,
        "report_epsilon": prediction.report_epsilon,
        "draws": prediction.draws,
        "imagined_users": prediction.imagined_users,
        "measures": {name: _finite(asdict(one)) for name, one in prediction.measures.items()},
        "known_queries": prediction.known_queries,
        "branch": prediction.branch,
        "query_share": prediction.query_share,
    }


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not a finite number: a goal that was not set."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }
