"""Releases planned at their own parameters: does a plan predict the release it was made from?

The logs have six shapes unlike AOL's, and three of AOL's. Each is released; the plan sees the
release alone. ``make self-prediction`` writes ``self_prediction.md``.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from blender_dp.core.blender import BlenderResult
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.estimation.release import Release
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import Scores, score
from blender_dp.evaluation.trials.trials import Experiment
from blender_dp.planning.plan import plan
from blender_dp.planning.prediction import Predicted
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.release import release_document, release_of

HERE = Path(__file__).parent
DELTA = 1e-5
MEASURES = ("queries", "records", "query_l1", "record_l1")
WITHIN = {"queries": 0.15, "records": 0.15, "query_l1": 0.25, "record_l1": 0.25}
SETTINGS = ((60_000, 0.1, 1.0), (60_000, 0.1, 4.0), (200_000, 0.05, 2.0))
"""Users, opt-in share and ε."""
LOGS = 2
"""Logs per shape and setting."""
RUNS = 5
"""Releases of each log; the first is planned from, and L1 is compared with the mean of all."""
FACTOR = 4
"""Users of a later collection, over those of the release it is planned from."""
NEGLIGIBLE = {"queries": 1.0, "records": 1.0, "query_l1": 0.003, "record_l1": 0.003}
"""Differences up to these count as none; the L1 of a single query is next to nothing."""

Rows = tuple[IntArray, IntArray, IntArray]
"""User, query and URL of every row."""


def _popularity(number: int, exponent: float) -> FloatArray:
    weights = np.arange(1.0, number + 1) ** -exponent
    return np.asarray(weights / weights.sum())


def _drawn(number: int, popularity: FloatArray, rng: np.random.Generator) -> IntArray:
    return np.asarray(np.searchsorted(np.cumsum(popularity)[:-1], rng.random(number)))


def one_record_each(users: int, rng: np.random.Generator) -> Rows:
    """One record per user; twelve URLs per query, by halves."""
    query = _drawn(users, _popularity(60_000, 1.0), rng)
    return np.arange(users), query, np.minimum(rng.geometric(0.5, users), 12) - 1


def ten_records_each(users: int, rng: np.random.Generator) -> Rows:
    """Ten independent records per user; few URLs per query."""
    user = np.repeat(np.arange(users), 10)
    query = _drawn(len(user), _popularity(200_000, 0.9), rng)
    return user, query, rng.choice(4, len(user), p=(0.4, 0.3, 0.2, 0.1))


def one_url_per_query(users: int, rng: np.random.Generator) -> Rows:
    """A single URL per query; one to five records per user."""
    user = np.repeat(np.arange(users), rng.integers(1, 6, users))
    query = _drawn(len(user), _popularity(30_000, 0.8), rng)
    return user, query, np.zeros(len(user), dtype=np.int64)


def fifty_flat_urls(users: int, rng: np.random.Generator) -> Rows:
    """Fifty equally popular URLs per query."""
    user = np.repeat(np.arange(users), 2)
    query = _drawn(len(user), _popularity(2_000, 1.0), rng)
    return user, query, rng.integers(0, 50, len(user))


def every_url_in_one_query(users: int, rng: np.random.Generator) -> Rows:
    """A single query with all URLs: data of one level."""
    user = np.repeat(np.arange(users), 3)
    return user, np.zeros(len(user), dtype=np.int64), _drawn(len(user), _popularity(9_000, 1), rng)


def very_steep(users: int, rng: np.random.Generator) -> Rows:
    """A few records have nearly everything."""
    user = np.repeat(np.arange(users), 2)
    query = _drawn(len(user), _popularity(5_000, 2.0), rng)
    return user, query, np.minimum(rng.geometric(0.8, len(user)), 5) - 1


def _like(shape: Shape) -> Callable[[int, np.random.Generator], Rows]:
    def rows(users: int, rng: np.random.Generator) -> Rows:
        made = synthesize(shape, users=users, seed=int(rng.integers(2**31)))
        return made.user, made.query, made.url

    return rows


SIX_SHAPES: dict[str, Callable[[int, np.random.Generator], Rows]] = {
    "one record each": one_record_each,
    "ten records each": ten_records_each,
    "one URL per query": one_url_per_query,
    "fifty flat URLs per query": fifty_flat_urls,
    "every URL in one query": every_url_in_one_query,
    "very steep": very_steep,
}
AOL_SHAPES = {str(shape): _like(shape) for shape in (Shape.AOL, Shape.AOL_SINGLE, Shape.AOL_MULTI)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One release and its plan."""

    shape: str
    users: int
    opt_in: float
    epsilon: float
    found: Mapping[str, float]
    """Size of the list it was planned from, and mean L1 of several releases of the same log."""
    predicted: Mapping[str, Predicted]
    seconds: float
    """Processor time of the plan."""

    def off(self, measure: str) -> float:
        """Return by how much the prediction is off, relative to what was found."""
        found = self.found[measure]
        return self.predicted[measure].mean / found - 1 if found else math.nan

    def is_within(self, measure: str) -> bool:
        """Tell whether the prediction is as close as asked for."""
        found, predicted = self.found[measure], self.predicted[measure].mean
        return abs(predicted - found) <= max(WITHIN[measure] * found, NEGLIGIBLE[measure])

    def is_covered(self, measure: str) -> bool:
        """Tell whether the stated range of nine in ten collections contains what was found."""
        one = self.predicted[measure]
        return one.low <= self.found[measure] <= one.high


def coded(shape: str, users: int, seed: int) -> CodedLog:
    """Return a log of one of the shapes."""
    rng = np.random.default_rng((seed, len(shape)))
    return CodedLog.of(*({**SIX_SHAPES, **AOL_SHAPES}[shape](users, rng)))


def released(log: CodedLog, experiment: Experiment, number: int = 0) -> tuple[Release, Scores]:
    """Release a log; return the release as a reader sees it, and its scores."""
    result = experiment.result(log, number)
    truth, query_truth = log.true_cells(result.head_list), log.query_truth(result.head_list)
    return as_read(result), score(result, truth, query_truth)


def as_read(result: BlenderResult) -> Release:
    """Return a result as a reader of its release sees it."""
    certificate = certificate_document(certify_curated(result.curated))
    document = release_document(result, certificate, created="2026-01-01T00:00:00Z")
    return release_of(document, "release.json")


def planned(shape: str, users: int, opt_in: float, epsilon: float, *, seed: int = 0) -> Planned:
    """Release a log of a shape, and plan at the release's own parameters."""
    log = coded(shape, users, seed)
    parameters = Parameters(epsilon=epsilon, delta=DELTA)
    experiment = Experiment(parameters=parameters, opt_in=opt_in, seed=seed + 1)
    release, first = released(log, experiment)
    scores = [first, *(experiment.trial(log, number) for number in range(1, RUNS))]
    errors = {name: mean(float(getattr(one, name)) for one in scores) for name in MEASURES[2:]}
    begin = time.process_time()
    made = plan(users=users, opt_in=opt_in, epsilon=epsilon, delta=DELTA, like=release)
    return Planned(
        shape=shape,
        users=users,
        opt_in=opt_in,
        epsilon=epsilon,
        found={"queries": first.queries, "records": first.records, **errors},
        predicted=made.prediction.measures,
        seconds=time.process_time() - begin,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extrapolated:
    """A plan for more users than those of its release, and what they list."""

    shape: str
    predicted: Mapping[str, float]
    found: Mapping[str, float]

    def ratio(self, measure: str) -> float:
        """Return the predicted number over the one that is found."""
        return self.predicted[measure] / self.found[measure]


def extrapolated(shape: str, *, seed: int) -> Extrapolated:
    """Plan for more users of the same shape from a release of few."""
    users, opt_in, epsilon = SETTINGS[0][0], SETTINGS[0][1], 2.0
    experiment = Experiment(parameters=Parameters(epsilon=epsilon, delta=DELTA), opt_in=opt_in)
    release, _ = released(coded(shape, users, seed), experiment)
    more = FACTOR * users
    made = plan(users=more, opt_in=opt_in, epsilon=epsilon, delta=DELTA, like=release)
    later = experiment.trial(coded(shape, more, seed + 1), 1)
    return Extrapolated(
        shape=shape,
        predicted={name: made.prediction.measures[name].mean for name in MEASURES[:2]},
        found={"queries": later.queries, "records": later.records},
    )


def extrapolated_row(one: Extrapolated) -> str:
    """Return one plan for more users as a row of the table."""
    cells = [one.shape]
    for name in MEASURES[:2]:
        cells += [f"{one.predicted[name]:.3g}", f"{one.found[name]:g}", f"{one.ratio(name):.2f}"]
    return "| " + " | ".join(cells) + " |"


def row(one: Planned) -> str:
    """Return one release as a row of the table."""
    cells = [one.shape, f"{one.users:,}", f"{one.opt_in:.0%}", f"{one.epsilon:g}"]
    for name in MEASURES:
        predicted = one.predicted[name]
        cells.append(f"{predicted.mean:.3g} ({predicted.low:.3g} to {predicted.high:.3g})")
        cells.append(f"{one.found[name]:.3g}")
    return "| " + " | ".join([*cells, f"{one.seconds:.1f}"]) + " |"


def page(every: Sequence[Planned], later: Sequence[Extrapolated]) -> str:
    """Return the whole page."""
    heads = ["shape", "users", "opt-in", "ε"]
    for name in ("queries", "records", "query L1", "record L1"):
        heads += [f"{name}, plan", "found"]
    lines = [
        "# Releases that predict themselves",
        "",
        "Made by `make self-prediction`. Each log is released with preset sharp "
        "and δ = 10⁻⁵, and planned from that release alone, at its own users, opt-in share and ε. "
        f"Found are the queries and records of that release, and the mean L1 of {RUNS} releases "
        "of the same log. In brackets: the stated range of nine in ten collections. The last "
        "column is the processor time of the plan. Differences of one query or record, or of 0.003 "
        "in L1, count as none: the L1 of a single query is next to nothing, which makes up most of "
        "its mean difference.",
        "",
        "| measure | mean difference | within the bound | bound | within the stated range |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {mean(abs(one.off(name)) for one in every):.1%} | "
            f"{mean(one.is_within(name) for one in every):.0%} | {WITHIN[name]:.0%} | "
            f"{mean(one.is_covered(name) for one in every):.0%} |"
            for name in MEASURES
        ),
        "",
        "| " + " | ".join([*heads, "s"]) + " |",
        "|" + "---|" * (len(heads) + 1),
        *(row(one) for one in every),
        "",
        f"## With {FACTOR} times the users",
        "",
        f"A release of {SETTINGS[0][0]:,} users, {SETTINGS[0][1]:.0%} opted in, ε = 2, planned for "
        f"{FACTOR} times as many, against one collection of so many users of the same shape. Here "
        "a plan depends on how popularities go on below the list, which a release hardly shows.",
        "",
        "| shape | queries, plan | found | ratio | records, plan | found | ratio |",
        "|---|---|---|---|---|---|---|",
        *(extrapolated_row(one) for one in later),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Release, plan, write."""
    every, later = [], []
    for shape in (*SIX_SHAPES, *AOL_SHAPES):
        for number in range(LOGS):
            later.append(extrapolated(shape, seed=100 * number))
            print(extrapolated_row(later[-1]), flush=True)
        for users, opt_in, epsilon in SETTINGS:
            for number in range(LOGS):
                every.append(planned(shape, users, opt_in, epsilon, seed=100 * number))
                print(row(every[-1]), flush=True)
    (HERE / "self_prediction.md").write_text(page(every, later), encoding="utf-8")


if __name__ == "__main__":
    main()
