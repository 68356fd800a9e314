"""Number of listed records for the same promise, and what it costs: ``make records``.

Writes ``records.md``. Every row is the mean of ten runs; each run draws the opt-in users anew.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.accuracy import DELTA, OPT_IN, made_by, row, workload
from blender_dp.core.blender import BlenderResult
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import score
from blender_dp.evaluation.trials.trials import Experiment

RESULTS = Path(__file__).parent / "records.md"
RUNS = 10
EPSILONS = (1, 2, 4)
EARLIER_SEED, LATER_SEED = 1_000, 2_000
"""Seeds of the release before a run and of the one after it."""
BEFORE = {
    Shape.AOL_SINGLE: {1: 42.5, 2: 95.6, 4: 215.5},
    Shape.AOL_MULTI: {1: 66.8, 2: 140.1, 4: 292.3},
}
"""Records of the same ten runs on 2026-11-15, when a plan paid for two worst cases at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One run without a known list and the same run with one."""

    records: int
    with_known: int
    after_that: int
    left: int
    """Known records that left the list."""
    error: float
    """Record L1 without a known list, on the records that both list."""
    error_with_known: float
    cover: float
    cover_with_known: float


def compare(log: CodedLog, parameters: Parameters, number: int) -> Comparison:
    """Run without a known list, with the release before as one, and once more after that."""
    plain = Experiment(parameters=parameters, opt_in=OPT_IN)
    before = replace(plain, seed=EARLIER_SEED).result(log, number)
    known = known_in(before)
    alone, informed = plain.result(log, number), replace(plain, known=known).result(log, number)
    after = replace(plain, seed=LATER_SEED, known=known_in(informed)).result(log, number)
    both = set(alone.head_list.records()) & set(informed.head_list.records())
    listed = set(informed.head_list.records())
    return Comparison(
        records=len(alone.head_list.records()),
        with_known=len(listed),
        after_that=len(after.head_list.records()),
        left=sum(record not in listed for record in known.records),
        error=_error(log, alone, both),
        error_with_known=_error(log, informed, both),
        cover=_cover(log, alone),
        cover_with_known=_cover(log, informed),
    )


def known_in(result: BlenderResult) -> KnownList:
    """Return the list of a result as the known list of the next."""
    return KnownList.of(result.head_list.records())


def _error(log: CodedLog, result: BlenderResult, records: set[Record]) -> float:
    """Return the L1 of these records."""
    index = result.head_list.cell_index().listed
    cells = [index[record] for record in records]
    off = np.abs(result.blended.cells.projected - log.true_cells(result.head_list))
    return float(off[cells].sum())


def _cover(log: CodedLog, result: BlenderResult) -> float:
    return score(result, log.true_cells(result.head_list)).record_coverage


def known_table() -> str:
    """Compare on both workloads and return the table."""
    parts = [
        f"519,371 users, {OPT_IN:.0%} opted in, δ = {DELTA:g}, untrimmed lists; "
        f"means of {RUNS} runs. "
        "*Before*: the same runs when a plan paid for both worst cases of an exchange "
        "(2026-11-15). *Known*: with the list of a release of other opt-in users of the same log "
        "as known list; *after that*: with the list of that release as known list of a third. "
        "L1 is that of the records that both lists have, with the known list over without.\n",
        "| workload | ε | before | now | known | left the list | after that | L1 "
        "| cover of records, now and known |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for shape, before in BEFORE.items():
        log = workload(shape)
        for epsilon in EPSILONS:
            parameters = Parameters(
                epsilon=epsilon, delta=DELTA, one_record_each=shape is Shape.AOL_SINGLE
            )
            runs = [compare(log, parameters, number) for number in range(RUNS)]
            parts.append(_row(shape, epsilon, before[epsilon], runs))
    return "\n".join(parts)


def _row(shape: Shape, epsilon: int, before: float, runs: list[Comparison]) -> str:
    now, known, after = (
        mean(getattr(run, name) for run in runs) for name in ("records", "with_known", "after_that")
    )
    error = mean(run.error_with_known for run in runs) / mean(run.error for run in runs)
    covers = (mean(run.cover for run in runs), mean(run.cover_with_known for run in runs))
    return row(
        [
            str(shape),
            str(epsilon),
            f"{before:.1f}",
            f"{now:.1f} ({now / before - 1:+.1%})",
            f"{known:.1f} ({known / now - 1:+.1%})",
            f"{mean(run.left for run in runs):.1f}",
            f"{after:.1f} ({after / now - 1:+.1%})",
            f"{error:.3f}",
            f"{covers[0]:.3f}, {covers[1]:.3f}",
        ]
    )


def main() -> None:
    """Measure, print and write."""
    head = f"# Records for the same promise\n\n{made_by('records')}"
    RESULTS.write_text(f"{head}{known_table()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
