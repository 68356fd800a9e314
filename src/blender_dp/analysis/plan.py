"""Plan of a collection from Python, which prints and draws itself."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from blender_dp.analysis.drawing import BLENDED, CLIENTS, Line, draw_lines
from blender_dp.analysis.tables import html_table, one_of
from blender_dp.core.blender import PRESETS
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.estimation.release import HasRelease, Release, release_from
from blender_dp.core.parameters import ListOf, Preset
from blender_dp.planning.curve import Curve, Step
from blender_dp.planning.plan import Plan
from blender_dp.planning.plan import plan as predict_plan
from blender_dp.planning.prediction import Prediction
from blender_dp.planning.targets import Target, target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measure = Literal["ndcg", "queries", "records", "query_l1", "record_l1"]
_MEASURES = {
    "queries": "queries on the list",
    "records": "records on the list",
    "ndcg": "NDCG",
    "query_l1": "L1 of listed queries",
    "record_l1": "L1 of listed records",
}
_ALONG = {"opt_in": "share of users who opt in", "epsilon": "ε", "relay": "share on the relay"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanResult(Plan):
    """Prediction of a collection, which prints and draws itself."""

    def plot(self, measure: Measure = "ndcg", *, axes: "Axes | None" = None) -> "Axes":
        """Draw a measure along the curve of the plan; matplotlib must be installed.

        Args:
            measure: ndcg, queries, records, query_l1 or record_l1.
            axes: Where to draw; a new picture if left out.
        """
        one_of("measure", measure, tuple(_MEASURES))
        if not self.curve:
            raise BlenderError("this plan has no curve; make it with curve='opt_in' or 'epsilon'")
        lines = [self._line("with these settings", BLENDED, self.curve, measure)]
        if len(self.curve_without_relay) > 1:
            lines.append(self._line("without a relay", CLIENTS, self.curve_without_relay, measure))
        return draw_lines(
            axes,
            lines,
            x=_ALONG[self.curve_of],
            y=f"{_MEASURES[measure]}, range of 9 in 10 collections",
            title=f"{self.prediction.setting.users:,} users like {self.like}",
            logarithmic="" if self.curve_of == "relay" else "x",
        )

    def _line(self, label: str, colour: str, points: Sequence[Prediction], measure: str) -> Line:
        found = [point.measures[measure] for point in points]
        return Line(
            label=label,
            colour=colour,
            x=[self._place(point) for point in points],
            y=[one.mean for one in found],
            low=[one.low for one in found],
            high=[one.high for one in found],
        )

    def _place(self, point: Prediction) -> float:
        setting = point.setting
        if self.curve_of == "relay":
            return setting.relay.share
        return setting.opt_in if self.curve_of == "opt_in" else setting.parameters.epsilon

    def __repr__(self) -> str:
        found = self.prediction.measures["queries"]
        return (
            f"<PlanResult: about {found.mean:.0f} queries ({found.low:.0f} to {found.high:.0f}); "
            f"{self._sentence()}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (words, f"{one.mean:.4g}", f"± {one.error:.2g}", f"{one.low:.4g} to {one.high:.4g}")
            for name, words in _MEASURES.items()
            if (one := self.prediction.measures.get(name)) is not None
        ]
        header = ("expected", "mean", "error of the plan", "9 in 10 collections")
        return html_table(header, rows, above=self._sentence(), below=" ".join(self.remarks))

    def _sentence(self) -> str:
        setting = self.prediction.setting
        return (
            f"{setting.users:,} users like {self.like}, {setting.opt_in:g} of them opted in; "
            f"ε = {setting.parameters.epsilon:g}, δ = {setting.parameters.delta:g}"
        )


def plan(  # noqa: PLR0913 - the public call
    *,
    users: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    opt_in: float | None = None,
    like: str | Release | HasRelease = "aol",
    preset: Preset | None = None,
    head_list_size: int | None = None,
    list_of: ListOf | None = None,
    records_per_user: float | None = None,
    target_ndcg: float | None = None,
    target_size: int | None = None,
    target_l1: float | None = None,
    relay: RelayRules | float | None = None,
    known: bool = False,
    curve: Curve = "none",
    draws: int | None = None,
    seed: int = 0,
    progress: Step | None = None,
) -> PlanResult:
    """Predict the results of a collection, without any user's data.

    The algorithm itself is run on imagined users; in ``paper`` f_O and f_C are chosen first.
    Nothing is spent: only public numbers and assumptions go in.

    Args:
        users: Number of all users; those of an earlier release if left out.
        epsilon: ε; that of an earlier release if left out.
        delta: δ; that of an earlier release if left out.
        opt_in: Share of the users who opt in; that of an earlier release, else 0.05.
        like: Shape of the assumed records: aol, yandex, zipf, zipf:s, flat, aol-single, aol-multi,
            or an earlier release, or the result of a run.
        preset: sharp or paper; that of an earlier release, else sharp, if left out.
        head_list_size: M, the most queries to keep; as many as an earlier release if that was
            trimmed and no longer list is the target, else all that are found, if left out.
        list_of: List records, or queries without URLs, or auto; what an earlier release lists, else
            records, if left out.
        records_per_user: Records of an average user; what the shape or the release says if left
            out.
        target_ndcg: Find the opt-in share and the ε that reach this NDCG, on a list of ten or more.
        target_size: Find the opt-in share and the ε that reach a list of this many queries.
        target_l1: Find the opt-in share, the ε and the relay share with at most this query L1.
        relay: The share of the clients who use a relay, or :class:`RelayRules`; that of an earlier
            release, else 0, if left out. The same users without a relay are predicted too.
        known: Take the list of an earlier collection of the same kind for known.
        curve: Also predict for several values of this parameter: opt_in, epsilon or relay.
        draws: Number of imagined collections; 3 to 20 if left out.
        seed: Seed of the imagined users; the same seed gives the same plan.
        progress: Called with the current step and the share of it that is done.
    """
    given: dict[str, Any] = {"users": users, "epsilon": epsilon, "delta": delta, "opt_in": opt_in}
    shape: Any = like
    if not isinstance(like, str):
        shape = release_from(like, "like")
        given = {
            name: value if number is None else number
            for (name, number), value in zip(given.items(), _settings(shape), strict=True)
        }
    if given["opt_in"] is None:
        given["opt_in"] = 0.05
    for name, number in given.items():
        if number is None:
            raise ParameterError(name, "given, unless an earlier release states it", number)
    if head_list_size is None:
        head_list_size = _usual_size(shape, target_of(target_ndcg, target_size, target_l1))
    found = predict_plan(
        **given,
        like=shape,
        preset=usual_preset(shape) if preset is None else preset,
        head_list_size=head_list_size,
        list_of=list_of,
        records_per_user=records_per_user,
        target_ndcg=target_ndcg,
        target_size=target_size,
        target_l1=target_l1,
        relay=usual_relay(shape, preset) if relay is None else relay,
        known=known,
        curve=curve,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    return PlanResult(**{part.name: getattr(found, part.name) for part in fields(Plan)})


def usual_preset(like: str | Release) -> Preset:
    """Return the preset of an earlier release, and sharp for a shape."""
    made = like.preset if isinstance(like, Release) else "sharp"
    return next((name for name in PRESETS if name == made), "sharp")


def usual_relay(like: str | Release, preset: Preset | None) -> float:
    """Return the share of the clients who used a relay in an earlier release.

    It is 0 of a shape, and with a preset that takes no relay clients.
    """
    if not isinstance(like, Release):
        return 0.0
    steps = PRESETS.get(usual_preset(like) if preset is None else preset)
    return like.relay_share if steps is not None and steps.takes_relay_clients else 0.0


def _usual_size(like: str | Release, target: Target | None) -> int | None:
    """Return the number of queries of an earlier release that was trimmed to it, else None.

    It is None too where a longer list is the goal.
    """
    if not isinstance(like, Release) or like.discovery is None:
        return None
    listed = len(like.listed_queries())
    is_enough = target is None or listed >= target.queries
    return listed if like.discovery.candidate_queries > listed and is_enough else None


def _settings(release: Release) -> tuple[int, float, float, float]:
    """Return users, ε, δ and the share of opt-in users of a release."""
    opted_in = release.opt_in_users + release.discovery_users
    users = opted_in + release.client_users
    if users == 0:
        raise ParameterError("like", "a release of users", "one of none")
    return users, release.epsilon, release.delta, opted_in / users
