"""Number of listed records for the same promise, and what it costs: ``make records``.

Writes ``records.md``. Every row compares runs that draw the same opt-in users; each run draws
others. Behind ± is the standard error over the runs.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import numpy as np
from scipy.stats import norm

from benchmarks.accuracy import DELTA, OPT_IN, made_by, ratio, row, with_error, workload
from benchmarks.former_plan import former_plan
from benchmarks.query_lists import list_table
from blender_dp.core.blender import BlenderResult
from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.listing_rule import half_listed
from blender_dp.core.curator.plans import weight_plan
from blender_dp.core.curator.value_law import value_law
from blender_dp.core.estimation.discovery_facts import discovery_facts
from blender_dp.core.exact.lattice import UNIT, weights
from blender_dp.core.head_list.cells import FloatArray
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.group_sizes import opt_in_users
from blender_dp.engine.synthetic import Shape
from blender_dp.evaluation.trials.coded_log import CodedLog, coins_of_trial
from blender_dp.evaluation.trials.coded_population import CodedUsers
from blender_dp.evaluation.trials.scores import score
from blender_dp.evaluation.trials.trials import Experiment

RESULTS = Path(__file__).parent / "records.md"
EPSILONS = (1, 2, 4)
RUNS = {1: 100, 2: 60, 4: 40}
"""Runs with a known list by ε; a small ε needs more."""
SAMPLES = 10
"""Draws of the opt-in users for the comparison of plans."""
EARLIER_SEED, LATER_SEED = 1_000, 2_000
"""Seeds of the release before a run and of the one after it."""
MOST_FREQUENT = {1: 40, 2: 80, 4: 150}
"""Number of the truly most frequent records on which errors are compared, by ε."""


# The Gaussian branch, before and now


def plan_table() -> str:
    """Compare the plan with the one that paid for two worst cases, and return the table."""
    log = workload(Shape.AOL_MULTI)
    number = opt_in_users(log.users, OPT_IN)
    drawn = [CodedUsers.drawn_from(log, coins_of_trial(0, i)[0]) for i in range(SAMPLES)]
    sums = [users.between(0, number).record_weights(weights(32), 1).sum / UNIT for users in drawn]
    parts = [
        "## The Gaussian branch\n",
        f"{Shape.AOL_MULTI}, δ = {DELTA:g}. *Before*: the plan that paid for both worst cases of "
        "an exchange, computed again for the same ε. Listed are the records that each plan is "
        "expected to list of the same sums, over all noise, so noise is no part of the error: "
        f"{SAMPLES} draws of the opt-in users.\n",
        "| ε | σ₁, τ before | σ₁, τ now | records before | now | gain |",
        "|---|---|---|---|---|---|",
    ]
    for epsilon in EPSILONS:
        budget = Budget.of(Parameters(epsilon=epsilon, delta=DELTA))
        plan = weight_plan(budget)
        now = plan.discovery_sigma / UNIT, plan.threshold / UNIT
        before = former_plan(float(budget.rest), DELTA)
        listed = [
            [float(norm.cdf((one - tau) / sigma).sum()) for one in sums]
            for sigma, tau in (before, now)
        ]
        laws = [f"{sigma:.3f}, {tau:.3f}" for sigma, tau in (before, now)]
        counts = [with_error(one, ".1f") for one in listed]
        parts.append(row([str(epsilon), *laws, *counts, ratio(listed[1], listed[0])]))
    return "\n".join(parts)


# A known list


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
    fair_error: float
    """The same on those of them that would have passed the threshold in both runs."""
    fair_error_with_known: float
    top_error: float
    """Record L1 of the truly most frequent records, an unlisted one counts as 0."""
    top_error_with_known: float
    cover: float
    cover_with_known: float


def compare(log: CodedLog, parameters: Parameters, number: int) -> Comparison:
    """Run without a known list, with the release before as one, and once more after that."""
    plain = Experiment(parameters=parameters, opt_in=OPT_IN)
    known = known_in(replace(plain, seed=EARLIER_SEED).result(log, number))
    alone, informed = plain.result(log, number), replace(plain, known=known).result(log, number)
    after = replace(plain, seed=LATER_SEED, known=known_in(informed)).result(log, number)
    listed = set(informed.head_list.records())
    both = set(alone.head_list.records()) & listed
    passed = both & _passed(informed)
    most = MOST_FREQUENT[int(parameters.epsilon)]
    return Comparison(
        records=len(alone.head_list.records()),
        with_known=len(listed),
        after_that=len(after.head_list.records()),
        left=sum(record not in listed for record in known.records),
        error=_error(log, alone, both),
        error_with_known=_error(log, informed, both),
        fair_error=_error(log, alone, passed),
        fair_error_with_known=_error(log, informed, passed),
        top_error=_top_error(log, alone, most),
        top_error_with_known=_top_error(log, informed, most),
        cover=_cover(log, alone),
        cover_with_known=_cover(log, informed),
    )


def known_in(result: BlenderResult) -> KnownList:
    """Return the list of a result as the known list of the next."""
    half, listed = half_listed(discovery_facts(result.curated)), result.head_list
    return KnownList.of(listed.discovered(), half_listed=half, of_queries=listed.is_of_queries)


def _passed(result: BlenderResult) -> set[Record]:
    """Return the records whose value passes the threshold, known or not."""
    curated = result.curated
    if curated.branch is None or curated.opt_in.tally is None:
        raise ValueError("only sharp has values")
    law = value_law(curated.branch, Budget.of(curated.parameters))
    over = curated.opt_in.tally.values / law.unit - law.mean >= law.threshold
    listed = zip(result.head_list.discovered(), over.tolist(), strict=True)
    return {record for record, passes in listed if passes}


def _error(log: CodedLog, result: BlenderResult, records: set[Record]) -> float:
    """Return the L1 of these records."""
    index = result.head_list.cell_index().listed
    cells = [index[record] for record in records]
    off = np.abs(result.blended.cells.projected - log.true_cells(result.head_list))
    return float(off[cells].sum())


def _top_error(log: CodedLog, result: BlenderResult, most: int) -> float:
    """Return the L1 of the truly most frequent records, listed or not."""
    estimate = estimates_of_all(log, result)
    top = np.argsort(-log.probability, kind="stable")[:most]
    return float(np.abs(estimate - log.probability)[top].sum())


def estimates_of_all(log: CodedLog, result: BlenderResult) -> FloatArray:
    """Return the estimate of every record of the log, 0 if it is not listed."""
    estimate = np.zeros(len(log.probability))
    records = result.head_list.records()
    if records:
        cells = result.head_list.cells.listed
        estimate[log.codes_of(records)] = result.blended.cells.projected[cells]
    return estimate


def _cover(log: CodedLog, result: BlenderResult) -> float:
    return score(result, log.true_cells(result.head_list)).record_coverage


def known_table() -> str:
    """Compare on both workloads and return the table."""
    runs = ", ".join(f"{number} at ε = {epsilon}" for epsilon, number in RUNS.items())
    parts = [
        "\n## A known list\n",
        f"519,371 users, {OPT_IN:.0%} opted in, δ = {DELTA:g}, untrimmed lists; runs: {runs}. "
        "*Known*: with the list of a release of other opt-in users of the same log as known list; "
        "*after that*: with the list of that release as known list of a third. The L1 columns are "
        "the error with the known list over that without: of the records both list (*common*); "
        "of those of them that would have passed the threshold in both runs (*passed in both*); "
        "of as many truly most frequent records in all runs, where an unlisted one counts as 0 "
        "(*most frequent*).\n",
        "| workload | ε | without | known | left the list | after that | L1 common "
        "| passed in both | most frequent | cover of records, without and known |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for shape in (Shape.AOL_SINGLE, Shape.AOL_MULTI):
        log = workload(shape)
        for epsilon in EPSILONS:
            parameters = Parameters(
                epsilon=epsilon, delta=DELTA, one_record_each=shape is Shape.AOL_SINGLE
            )
            runs_of_row = [compare(log, parameters, number) for number in range(RUNS[epsilon])]
            parts.append(_known_row(shape, epsilon, runs_of_row))
    return "\n".join(parts)


def _known_row(shape: Shape, epsilon: int, runs: list[Comparison]) -> str:
    def column(name: str) -> list[float]:
        return [float(getattr(run, name)) for run in runs]

    return row(
        [
            str(shape),
            str(epsilon),
            with_error(column("records"), ".1f"),
            f"{mean(column('with_known')):.1f} ({ratio(column('with_known'), column('records'))})",
            f"{mean(column('left')):.1f}",
            f"{mean(column('after_that')):.1f}",
            *(
                ratio(column(f"{name}_with_known"), column(name))
                for name in ("error", "fair_error", "top_error")
            ),
            ", ".join(with_error(column(name), ".3f") for name in ("cover", "cover_with_known")),
        ]
    )


REMARKS = """
A record is *common* if its noise let it pass without a known list. Such a record is measured with
less noise than one that is listed in any case, so this column favours the run without a known list.
*Passed in both* asks the same of both runs, and *most frequent* of neither.
"""


def main() -> None:
    """Measure, print and write."""
    head = f"# Records for the same promise\n\n{made_by('records')}"
    tables = "\n".join([plan_table(), known_table(), REMARKS, list_table()])
    RESULTS.write_text(f"{head}{tables}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
