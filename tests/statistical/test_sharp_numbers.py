"""The ``sharp`` preset reaches the numbers that an independent simulation of it stated.

``benchmarks/accuracy.py`` runs every row of that table (`make accuracy`); here are one of each
workload, at a fixed seed, with the bounds of that table: the simulation's mean with room for
chance. A twin that loses a part of what makes it sharp misses a bound.
"""

from dataclasses import astuple, fields, replace
from functools import cache

import numpy as np
import pytest

from benchmarks.accuracy import (
    BOUNDS,
    DELTA,
    MOST_BIAS,
    OPT_IN,
    QUERY_COVERAGE,
    RECORD_COVERAGE,
    SEEDS,
)
from blender_dp.core.blender import PRESETS, blender
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.curator.steps import Steps
from blender_dp.core.estimation.estimates import GroupEstimates
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation
from blender_dp.evaluation.trials.scores import Scores, score

RUNS, EPSILON = 10, 4


@cache
def workload(shape: Shape) -> CodedLog:
    log = synthesize(shape, seed=SEEDS[shape])
    return CodedLog.of(log.user, log.query, log.url)


def means(shape: Shape, steps: Steps) -> dict[str, float]:
    """Return the mean of every measure over the runs, the list untrimmed."""
    log = workload(shape)
    single = shape is Shape.AOL_SINGLE
    parameters = Parameters(epsilon=EPSILON, delta=DELTA, one_record_each=single)
    rows = []
    for number in range(RUNS):
        randomness = Randomness.seeded(number)
        population = CodedPopulation.draw(log, opt_in=OPT_IN, seed=number, randomness=randomness)
        result = blender(population, parameters, randomness, steps=steps)
        truth = log.true_cells(result.head_list), log.query_truth(result.head_list)
        rows.append(astuple(score(result, *truth)))
    names = [field.name for field in fields(Scores)]
    return dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))


def missed(shape: Shape, found: dict[str, float]) -> list[str]:
    """Return which bounds of the table the means miss."""
    (bound,) = [b for b in BOUNDS[shape] if b.epsilon == EPSILON and not b.trimmed]
    least = {name: getattr(bound, name) for name in ("records", "ndcg")}
    most = {name: getattr(bound, name) for name in ("query_l1", "record_l1", "query_l1_top_50")}
    cover = {"record_coverage": RECORD_COVERAGE, "query_coverage": QUERY_COVERAGE}
    return [
        *(name for name, value in least.items() if found[name] < value),
        *(name for name, value in most.items() if found[name] > value),
        *(name for name, (low, high) in cover.items() if not low <= found[name] <= high),
        *(["rare_half_bias"] if abs(found["rare_half_bias"]) > MOST_BIAS else []),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [Shape.AOL_SINGLE, Shape.AOL_MULTI])
def test_the_numbers_are_reached(shape: Shape) -> None:
    assert missed(shape, means(shape, PRESETS["sharp"])) == []


def only_records(head_list: HeadList, opt_in: GroupEstimates, clients: int) -> Mechanism:
    """Ask every client for the record, as if no query were worth a question of its own."""
    del opt_in, clients
    return head_list.mechanism


@pytest.mark.slow
def test_asking_for_records_only_would_be_caught() -> None:
    plain = replace(PRESETS["sharp"], choose_mechanism=only_records)
    assert "query_l1" in missed(Shape.AOL_SINGLE, means(Shape.AOL_SINGLE, plain))
