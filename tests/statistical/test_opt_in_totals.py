"""What opt-in users alone say of queries with some 50 URLs each is not shifted.

On correct code the z-scores of the 100 most popular queries have mean 0 and variance 1 at most, so
that the mean of all of them in ``RUNS`` runs is near normal with standard error (100·RUNS)^(-1/2).
The twin adds up the records' corrected estimates, as was done once: its mean z is about -0.7.
"""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from blender_dp.core.blend_probabilities import sharp
from blender_dp.core.blend_probabilities.common_estimate import CommonEstimate
from blender_dp.core.blender import blender
from blender_dp.core.estimation.estimates import Estimate
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation
from exact_tests import FALSE_ALARM

USERS, QUERIES, URLS, RUNS, LARGEST = 200_000, 150, 50, 5, 100
SHIFT_OF_THE_TWIN = -0.65
MOST = NormalDist().inv_cdf(1 - FALSE_ALARM / 2) / sqrt(LARGEST * RUNS)
"""The mean z is farther from 0 with probability ``FALSE_ALARM``."""


def mean_z(seed: int) -> float:
    rng = np.random.default_rng(seed)
    popular = np.arange(1, QUERIES + 1) ** -0.9
    clicked = np.arange(1, URLS + 1) ** -0.3
    query = rng.choice(QUERIES, USERS, p=popular / popular.sum())
    url = rng.choice(URLS, USERS, p=clicked / clicked.sum())
    log = CodedLog.of(np.arange(USERS), query, url)
    found = []
    for number in range(RUNS):
        randomness = Randomness.seeded(seed + number)
        population = CodedPopulation.draw(
            log, opt_in=0.5, seed=seed + number, randomness=randomness
        )
        result = blender(population, Parameters(epsilon=4, delta=1e-6), randomness)
        truth = result.head_list.cells.by_query(log.true_cells(result.head_list))[:-1]
        largest = np.argsort(-truth)[:LARGEST]
        assert result.blended.queries.groups is not None
        opt_in = result.blended.queries.groups[0]
        z = (opt_in.probability[:-1] - truth) / opt_in.std_error[:-1]
        found.append(z[largest].mean())
    return float(np.mean(found))


def test_what_opt_in_users_say_of_queries_is_not_shifted(seed: int) -> None:
    assert abs(mean_z(seed)) < MOST


def test_a_total_of_corrected_records_is_caught(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def added_up(common: CommonEstimate, views: OptInViews) -> Estimate:
        by_query = views.cells.by_query
        return Estimate(
            probability=by_query(common.opt_in), variance=by_query(common.opt_in_variance)
        )

    monkeypatch.setattr(sharp, "_opt_in_totals", added_up)
    assert mean_z(seed) < -MOST


def test_the_sample_is_large_enough_to_catch_it() -> None:
    missed = NormalDist(SHIFT_OF_THE_TWIN, 1 / sqrt(LARGEST * RUNS)).cdf(-MOST)
    assert 1 - missed < FALSE_ALARM
