"""Lists of records, of queries and chosen lists, for ``make records``."""

from collections.abc import Callable
from statistics import mean

from benchmarks.accuracy import DELTA, OPT_IN, ratio, row, with_error, workload
from blender_dp.core.blender import BlenderResult
from blender_dp.core.parameters import ListOf, Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import score
from blender_dp.evaluation.trials.trials import Experiment

LIST_RUNS = 20


def list_table() -> str:
    """Compare what is listed and return the table."""
    parts = [
        "\n## Lists of queries\n",
        f"{OPT_IN:.0%} opted in, δ = {DELTA:g}, {LIST_RUNS} runs. The flat log has fifty equally "
        "popular URLs per query; nothing is declared. The error is the L1 of the 50 truly most "
        "frequent queries, where an unlisted one counts as 0.\n",
        "| log | users | ε | list | queries | over records | records | query error, over records "
        "| runs that list queries |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for shape in (Shape.FLAT, Shape.AOL_SINGLE, Shape.AOL_MULTI):
        log = _flat_log() if shape is Shape.FLAT else workload(shape)
        for epsilon in (1, 4):
            parts += _list_rows(shape, log, epsilon)
    return "\n".join(parts)


def _flat_log() -> CodedLog:
    log = synthesize(Shape.FLAT, seed=3)
    return CodedLog.of(log.user, log.query, log.url)


def _list_rows(shape: Shape, log: CodedLog, epsilon: int) -> list[str]:
    choices: tuple[ListOf, ...] = ("records", "queries", "auto")
    found = {}
    for list_of in choices:
        parameters = Parameters(epsilon=epsilon, delta=DELTA, list_of=list_of)
        experiment = Experiment(parameters=parameters, opt_in=OPT_IN)
        found[list_of] = [experiment.result(log, number) for number in range(LIST_RUNS)]

    def of_each(list_of: ListOf, measure: Callable[[BlenderResult], float]) -> list[float]:
        return [measure(result) for result in found[list_of]]

    def queries(result: BlenderResult) -> float:
        return len(result.head_list.queries)

    def error(result: BlenderResult) -> float:
        truth = log.query_truth(result.head_list)
        return score(result, log.true_cells(result.head_list), truth).query_l1_top_50

    return [
        row(
            [
                *(str(shape), f"{log.users:,}", str(epsilon), list_of),
                with_error(of_each(list_of, queries), ".1f"),
                ratio(of_each(list_of, queries), of_each("records", queries)),
                f"{mean(of_each(list_of, lambda one: len(one.head_list.records()))):.1f}",
                ratio(of_each(list_of, error), of_each("records", error)),
                f"{sum(one.head_list.is_of_queries for one in found[list_of])} of {LIST_RUNS}",
            ]
        )
        for list_of in choices
    ]
