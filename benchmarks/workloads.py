"""Workloads of ``make shares``, and the errors that its tables compare."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.accuracy import workload
from benchmarks.records import estimates_of_all
from benchmarks.self_prediction import Rows, very_steep
from blender_dp.core.blender import BlenderResult
from blender_dp.core.head_list.cells import IntArray
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.trials import Experiment

MOST_QUERIES = 50
OF_THE_LIST = 0.7
"""Errors are those of so many truly most frequent records, over the length of a usual list."""
MEASURES = ("records", "record_error", "query_error")


def baskets(users: int, rng: np.random.Generator) -> Rows:
    """About ten different products per user, of 5,000 in twenty departments."""
    user = np.repeat(np.arange(users), rng.poisson(9, users) + 1)
    popularity = np.arange(1.0, 5001) ** -0.8
    item = np.searchsorted(np.cumsum(popularity / popularity.sum())[:-1], rng.random(len(user)))
    own = np.unique(user * 5000 + item)
    return own // 5000, own % 5000 % 20, own % 5000


def _coded(rows: Rows) -> CodedLog:
    return CodedLog.of(*rows)


def logs() -> Iterator[tuple[str, bool, CodedLog]]:
    """Yield the workloads: name, whether one record per user is declared, and the log."""
    yield "aol-single", True, workload(Shape.AOL_SINGLE)
    yield "aol-multi", False, workload(Shape.AOL_MULTI)
    flat = synthesize(Shape.FLAT, seed=3)
    yield "flat", True, CodedLog.of(flat.user, flat.query, flat.url)
    yield "steep", False, _coded(very_steep(200_000, np.random.default_rng(4)))
    yield "baskets", False, _coded(baskets(200_000, np.random.default_rng(5)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run gives."""

    records: float
    record_error: float
    query_error: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Targets:
    """The truly most frequent records and queries of a log, on which errors are measured."""

    log: CodedLog
    records: IntArray
    queries: IntArray

    @classmethod
    def of(cls, log: CodedLog, experiment: Experiment) -> "Targets":
        """Take as many as make most of the list of the first run."""
        found = experiment.result(log, 0).head_list
        lengths = len(found.records()), len(found.queries)
        records, queries = (max(int(OF_THE_LIST * length), 1) for length in lengths)
        return cls(
            log=log,
            records=np.argsort(-log.probability, kind="stable")[:records],
            queries=np.argsort(-log.query_probability(), kind="stable")[
                : min(queries, MOST_QUERIES)
            ],
        )

    def outcome(self, result: BlenderResult) -> Outcome:
        """Measure a result."""
        of_queries = self.log.query_probability()
        queries = np.zeros(len(of_queries))
        listed = np.array([int(query) for query in result.head_list.queries], dtype=np.int64)
        queries[listed] = result.blended.queries.raw.probability[:-1]
        off = np.abs(estimates_of_all(self.log, result) - self.log.probability)
        return Outcome(
            records=len(result.head_list.records()),
            record_error=float(off[self.records].sum()),
            query_error=float(np.abs(queries - of_queries)[self.queries].sum()),
        )
