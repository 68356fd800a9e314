"""``blender-dp plan``: predicts the results of a collection before anything is collected."""

import csv
import json as json_text
from contextlib import nullcontext
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table

from blender_dp.analysis.plan import plan as plan_of
from blender_dp.analysis.plan import usual_relay
from blender_dp.cli.options import Flag, RelayOptions
from blender_dp.cli.terminal import RESULTS, StepProgress, print_json, say, shown_progress
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import ListOf, Preset
from blender_dp.pages.plan_page import render_plan
from blender_dp.planning.curve import Curve
from blender_dp.planning.plan import Plan
from blender_dp.planning.prediction import Predicted, Prediction
from blender_dp.wire.documents.staging import staged_directory
from blender_dp.wire.published.release import read_release

FILES = ("plan.json", "plan.csv", "plan.html")
NAMES = {
    "queries": "queries on the list",
    "records": "records on the list",
    "ndcg": "NDCG",
    "query_l1": "L1 of the queries",
    "record_l1": "L1 of the records",
    "query_interval": "95 % interval, queries",
    "record_interval": "95 % interval, records",
}


def plan(
    release: Path | None = None,
    /,
    *,
    users: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    opt_in: float | None = None,
    like: str | None = None,
    preset: Preset | None = None,
    head_list_size: int | None = None,
    list_of: Annotated[ListOf | None, Parameter(name="--list")] = None,
    records_per_user: float | None = None,
    target_ndcg: float | None = None,
    target_size: int | None = None,
    target_l1: float | None = None,
    relay: RelayOptions = RelayOptions(),  # noqa: B008 - frozen
    known: Flag = False,
    curve: Literal["none", "opt-in", "epsilon", "relay"] | None = None,
    draws: int | None = None,
    seed: int = 0,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Flag = False,
    json: Flag = False,
) -> None:
    """Predict list size, NDCG, L1 and interval widths of a collection, without any data.

    Runs the algorithm several times on imagined users; needs no data and spends nothing. Exit
    status: 0 when planned, 2 for a wrong argument or a target out of reach.

    Parameters
    ----------
    release
        An earlier release.json to take the popularities from; or --like.
    users
        Number of users, both groups together; default: those of the release.
    epsilon
        ε, the bound on every user's privacy loss; default: that of the release.
    delta
        δ, the probability that a user's loss may exceed it, such as 1e-5; default: that of the
        release.
    opt_in
        Share of the users who opt in; default: that of the release, else 0.05.
    like
        Shape of the records: aol (default), yandex, zipf, zipf:s, flat, aol-single or aol-multi.
    preset
        sharp, or paper, the algorithm as printed, whose f_O and f_C are then chosen. Default: that
        of the release, else sharp.
    head_list_size
        M, the most queries that the list keeps. Default: as many as the release if that was
        trimmed and no longer list is the target, else all that are found.
    list_of
        List records, or queries without URLs; auto spends 0.005 ε to choose (sharp). Default:
        what the release lists, else records.
    records_per_user
        Records of an average user; what the shape or the release says if left out.
    target_ndcg
        Find the opt-in share and the ε that reach this NDCG, on a list of ten queries or more.
    target_size
        Find the opt-in share and the ε that reach a list of this number of queries.
    target_l1
        Find the opt-in share, the ε and the relay share with at most this L1 of the queries.
    known
        Predict a collection that knows the list of an earlier one of the same kind.
    curve
        Also predict for several values of opt-in, epsilon or relay, the share of the clients who
        use a relay. Default: none; with --output relay if --relay is given, otherwise opt-in.
    draws
        Number of imagined collections; 3 to 20 if left out.
    seed
        Seed of the imagined users; the same seed gives the same plan.
    output
        Directory to make for plan.json, plan.csv and plan.html; none if left out.
    overwrite
        Replace an earlier plan in the same place, once the new one is complete.
    json
        Print one object for a program instead of the tables.
    """
    if release is not None and like is not None:
        raise ParameterError("like", "left out where a release is given", like)
    staged = (
        nullcontext()
        if output is None
        else staged_directory(output, overwrite=overwrite, replaceable=FILES)
    )
    with staged as partial, shown_progress() as progress:
        records = like or "aol" if release is None else read_release(release)
        relay_rules = relay.rules(usual_relay(records, preset))
        made = plan_of(
            users=users,
            epsilon=epsilon,
            delta=delta,
            opt_in=opt_in,
            like=records,
            preset=preset,
            head_list_size=head_list_size,
            list_of=list_of,
            records_per_user=records_per_user,
            target_ndcg=target_ndcg,
            target_size=target_size,
            target_l1=target_l1,
            relay=relay_rules,
            known=known,
            curve=_curve_along(curve, output, relay_rules),
            draws=draws,
            seed=seed,
            progress=_Steps(progress),
        )
        if partial is not None:
            _write(partial, made)
    _tell(made, output, json=json)


def _tell(made: Plan, output: Path | None, *, json: bool) -> None:
    for remark in made.remarks:
        say(remark)
    if json:
        print_json(made.document())
    else:
        _print(made)
        if output is not None:
            RESULTS.print(f"\npage: {output / 'plan.html'}")


def _curve_along(asked: str | None, output: Path | None, relay: RelayRules) -> Curve:
    """Return what a curve goes along: as asked, or what there is to compare."""
    usual: Curve = "relay" if relay.share else "opt_in"
    curves: dict[str | None, Curve] = {
        "none": "none",
        "opt-in": "opt_in",
        "epsilon": "epsilon",
        "relay": "relay",
        None: "none" if output is None else usual,
    }
    return curves[asked]


class _Steps:
    """Shows each step once, with its progress."""

    def __init__(self, progress: StepProgress) -> None:
        self._progress, self._step = progress, ""

    def __call__(self, step: str, share: float) -> None:
        if step != self._step:
            self._progress.step(step)
            self._step = step
        self._progress.share(share)


def _write(directory: Path, made: Plan) -> None:
    document = made.document()
    text = json_text.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    (directory / "plan.json").write_text(text + "\n", encoding="utf-8")
    (directory / "plan.html").write_text(render_plan(document), encoding="utf-8")
    rows = [_flatten(point) for point in made.curve or (made.prediction,)]
    with (directory / "plan.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def _flatten(point: Prediction) -> dict[str, Any]:
    setting = point.setting
    row: dict[str, Any] = {
        "users": setting.users,
        "opt_in": setting.opt_in,
        "epsilon": setting.parameters.epsilon,
        "delta": setting.parameters.delta,
        "relay": setting.relay.share,
    }
    for name, predicted in point.measures.items():
        for field in fields(Predicted):
            row[f"{name}_{field.name}"] = getattr(predicted, field.name)
    return row


def _print(made: Plan) -> None:
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("predicted", no_wrap=True)
    compared = made.without_relay
    ranges = ["nine of ten collections"] if compared is None else ["nine of ten", "without relay"]
    for heading in ("mean ± 95 %", *ranges):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, one in made.prediction.measures.items():
        mean, error = _number(name, one.mean), _number(name, one.error)
        span = f"{_number(name, one.low)} to {_number(name, one.high)}"
        other = [] if compared is None else [_number(name, compared.measures[name].mean)]
        table.add_row(NAMES[name], f"{mean} ± {error}", span, *other)
    RESULTS.print(table)
    RESULTS.print()
    for line in _describe_choice(made):
        RESULTS.print(line)
    for line in _describe_answer(made):
        RESULTS.print(line)
    if made.curve:
        _print_curve(made)


def _describe_choice(made: Plan) -> list[str]:
    chosen = made.choices
    lines = [f"found by: {chosen.discovery}", f"clients: {chosen.client_mechanism}"]
    if chosen.query_share:
        lines[-1] += f", {chosen.query_share:.0%} report only the query"
    if made.relay_sentence is not None:
        lines.append(f"relay: {made.relay_sentence}")
    if chosen.head_list_user_fraction is not None:
        lines.append(
            f"f_O {chosen.head_list_user_fraction:g}, f_C {chosen.query_budget_fraction:g}"
        )
    known = made.prediction.known_queries
    keep = "all that are found" if chosen.head_list_size is None else f"{chosen.head_list_size:,}"
    lines.append(f"M: {keep} ({known:,} queries are known to within half their probability)")
    return lines


def _describe_answer(made: Plan) -> list[str]:
    lines = []
    for answer in made.answers:
        knob = {
            "opt_in": f"{answer.nearest:.3%} opted in ({answer.opt_in_users:,} users)",
            "epsilon": f"ε = {answer.nearest:g}",
            "relay": f"{answer.nearest:.1%} of the clients behind a relay",
        }[answer.varied]
        there = f"{answer.queries:,.0f} queries, NDCG {answer.ndcg:.3f}"
        if made.target is not None and made.target.query_l1 < inf:
            there += f", query L1 {answer.query_l1:.3g}"
        start = "reached with" if answer.value is not None else "not reached; nearest with"
        lines.append(f"target {start} {knob}: {there}")
    return lines


def _print_curve(made: Plan) -> None:
    RESULTS.print()
    table = Table(title=None, box=None, pad_edge=False)
    columns = ("queries", "records", "ndcg", "query_l1", "record_l1")
    headings = ("queries", "records", "NDCG", "query L1", "record L1")
    along = {"opt_in": "opted in", "epsilon": "ε", "relay": "relay"}[made.curve_of]
    for heading in (along, *headings):
        table.add_column(heading, justify="right", no_wrap=True)
    for point in made.curve:
        setting = point.setting
        value = {
            "opt_in": f"{setting.opt_in:.3%}",
            "epsilon": f"{setting.parameters.epsilon:g}",
            "relay": f"{setting.relay.share:.0%}",
        }[made.curve_of]
        table.add_row(value, *(_number(name, point.measures[name].mean) for name in columns))
    RESULTS.print(table)


def _number(name: str, value: float) -> str:
    if value != value:  # noqa: PLR0124 - not a number is not itself
        return "–"
    if name in ("queries", "records"):
        return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
    return f"{value:.4f}" if name == "ndcg" else f"{value:.3g}"
