"""Accuracy of ``sharp`` and ``paper`` on the two benchmark workloads: ``make accuracy``.

Writes ``accuracy.md``. Every row is the mean of many runs; the bounds are the
means of an independent simulation of the preset with room for chance.
"""

import math
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median, stdev

import numpy as np

from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import Scores
from blender_dp.evaluation.trials.trials import Experiment, run_trials

RESULTS = Path(__file__).parent / "accuracy.md"
SHARP_RUNS = 10
PAPER_RUNS = {Shape.AOL_SINGLE: 20, Shape.AOL_MULTI: 8}
DELTA, OPT_IN, MOST_QUERIES = 1e-5, 0.05, 50
SEEDS = {Shape.AOL_SINGLE: 0, Shape.AOL_MULTI: 1}


@dataclass(frozen=True, slots=True)
class Bound:
    """What the mean of ten runs must reach."""

    epsilon: int
    trimmed: bool
    records: float
    ndcg: float
    query_l1: float
    record_l1: float
    query_l1_top_50: float


BOUNDS = {
    Shape.AOL_SINGLE: (
        Bound(1, True, 37.4, 0.9948, 0.0229, 0.0119, 0.037),
        Bound(1, False, 37.4, 0.9948, 0.0229, 0.0119, 0.037),
        Bound(2, True, 58.7, 0.9966, 0.0184, 0.0135, 0.0249),
        Bound(2, False, 85.3, 0.9947, 0.0249, 0.0179, 0.0207),
        Bound(3, True, 69, 0.9974, 0.0145, 0.0129, 0.0203),
        Bound(3, False, 137, 0.9963, 0.0273, 0.021, 0.0146),
        Bound(4, True, 81.7, 0.9978, 0.00991, 0.0123, 0.0161),
        Bound(4, False, 195, 0.9964, 0.0269, 0.0232, 0.0111),
        Bound(5, True, 94.1, 0.9985, 0.00708, 0.0104, 0.0131),
        Bound(5, False, 259, 0.9967, 0.0252, 0.0251, 0.00782),
        Bound(6, True, 103, 0.9992, 0.00488, 0.00742, 0.0106),
        Bound(6, False, 304, 0.9975, 0.0193, 0.0228, 0.00492),
    ),
    Shape.AOL_MULTI: (
        Bound(1, True, 55.2, 0.9980, 0.0212, 0.00943, 0.0244),
        Bound(1, False, 62.3, 0.9978, 0.0215, 0.0103, 0.0206),
        Bound(2, True, 67.7, 0.9983, 0.0159, 0.00886, 0.0217),
        Bound(2, False, 130, 0.9986, 0.0252, 0.0127, 0.0139),
        Bound(4, True, 99.7, 0.9990, 0.00818, 0.0085, 0.0123),
        Bound(4, False, 272, 0.9986, 0.0279, 0.0162, 0.00895),
    ),
}
RECORD_COVERAGE, QUERY_COVERAGE, MOST_BIAS = (0.92, 0.995), (0.91, 0.995), 0.12


def table() -> str:
    """Run everything and return the two tables."""
    parts = [
        f"Workloads of {len(BOUNDS)} kinds, 519,371 users, {OPT_IN:.0%} opted in, δ = {DELTA:g}; "
        f"means of {SHARP_RUNS} runs of `sharp`. The bound is in brackets; **bold** misses it. "
        f"Coverage of the 95 % intervals must lie in {RECORD_COVERAGE} for records and in "
        f"{QUERY_COVERAGE} for queries, the bias of the rarer half of the records within "
        f"±{MOST_BIAS}.\n",
        "| workload | ε | list | records | NDCG | query L1 | record L1 | query L1 of top 50 "
        "| cover records, queries | rare bias |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    beside = [
        "\n`paper` on the same users (median for record L1, whose mean has no finite variance):\n",
        "| workload | ε | runs | queries found, records | NDCG | query L1 | record L1 | "
        "cover records, queries |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for shape, bounds in BOUNDS.items():
        log = workload(shape)
        parts += [_sharp_row(log, shape, bound) for bound in bounds]
        beside += [_paper_row(log, shape, epsilon) for epsilon in {b.epsilon: 0 for b in bounds}]
    return "\n".join([*parts, *beside])


def workload(shape: Shape) -> CodedLog:
    """Return the log of a workload."""
    log = synthesize(shape, seed=SEEDS[shape])
    return CodedLog.of(log.user, log.query, log.url)


def _sharp_row(log: CodedLog, shape: Shape, bound: Bound) -> str:
    parameters = Parameters(
        epsilon=bound.epsilon,
        delta=DELTA,
        head_list_size=MOST_QUERIES if bound.trimmed else None,
        one_record_each=shape is Shape.AOL_SINGLE,
    )
    found = _runs(log, parameters, SHARP_RUNS)
    cover = [mean_of(found, "record_coverage"), mean_of(found, "query_coverage")]
    covers = [
        marked(f"{share:.3f}", low <= share <= high)
        for share, (low, high) in zip(cover, (RECORD_COVERAGE, QUERY_COVERAGE), strict=True)
    ]
    bias = mean_of(found, "rare_half_bias")
    cells = [
        str(shape),
        str(bound.epsilon),
        "50 queries" if bound.trimmed else "all",
        against(found, "records", bound.records, at_least=True, digits=".1f"),
        against(found, "ndcg", bound.ndcg, at_least=True, digits=".4f"),
        *(
            against(found, name, getattr(bound, name), at_least=False, digits=".5f")
            for name in ("query_l1", "record_l1", "query_l1_top_50")
        ),
        ", ".join(covers),
        marked(f"{bias:+.3f}", abs(bias) <= MOST_BIAS),
    ]
    return row(cells)


def _paper_row(log: CodedLog, shape: Shape, epsilon: int) -> str:
    parameters = Parameters(
        epsilon=epsilon, delta=DELTA, head_list_size=MOST_QUERIES, preset="paper"
    )
    found = _runs(log, parameters, PAPER_RUNS[shape])
    cells = [
        str(shape),
        str(epsilon),
        str(len(found)),
        f"{_shown(found, 'candidate_queries')}, {_shown(found, 'candidate_records')}",
        _shown(found, "ndcg"),
        _shown(found, "query_l1"),
        f"{median(score.record_l1 for score in found):.4g}",
        f"{mean_of(found, 'record_coverage'):.3f}, {mean_of(found, 'query_coverage'):.3f}",
    ]
    return row(cells)


def _runs(log: CodedLog, parameters: Parameters, runs: int) -> list[Scores]:
    experiment = Experiment(parameters=parameters, opt_in=OPT_IN, repetitions=runs)
    return run_trials(log, experiment, workers=1)


def mean_of(found: Sequence[Scores], name: str) -> float:
    """Return the mean of a measure."""
    return float(mean(getattr(score, name) for score in found))


def _shown(found: Sequence[Scores], name: str) -> str:
    values = [getattr(score, name) for score in found]
    return f"{mean(values):.4g} ± {stdev(values) / math.sqrt(len(values)):.2g}"


def against(
    found: Sequence[Scores], name: str, bound: float, *, at_least: bool, digits: str
) -> str:
    """Return the mean of a measure beside its bound."""
    value = mean_of(found, name)
    sign = "≥" if at_least else "≤"
    kept = value >= bound if at_least else value <= bound
    return f"{marked(format(value, digits), kept)} ({sign} {bound:g})"


def marked(text: str, kept: bool) -> str:
    """Return the text, in bold if it misses its bound."""
    return text if kept else f"**{text}**"


def with_error(values: Sequence[float], form: str) -> str:
    """Return the mean of some values with its standard error."""
    error = stdev(values) / len(values) ** 0.5
    return f"{mean(values):{form}} ± {error:.2g}"


def ratio(above: Sequence[float], below: Sequence[float]) -> str:
    """Return the ratio of two means of paired values, with its standard error."""
    over, under = np.array(above), np.array(below)
    value = over.mean() / under.mean()
    error = (over - value * under).std(ddof=1) / len(over) ** 0.5 / under.mean()
    return f"{value:.3f} ± {error:.3f}"


def row(cells: Sequence[str]) -> str:
    """Print a row of a table, and return it."""
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    return line


def made_by(target: str) -> str:
    """Say how and where a page was made."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"Made by `make {target}` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, Python {platform.python_version()}. Synthetic data.\n\n"
    )


def main() -> None:
    """Measure, print and write."""
    head = f"# Accuracy of the two presets\n\n{made_by('accuracy')}"
    RESULTS.write_text(head + table() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
