"""The claim of the paper's abstract, "NDCG values exceeding 95 %", on the AOL-shaped log."""

import numpy as np
import pytest

from blender_dp.core.blender import blender
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation
from blender_dp.evaluation.trials.scores import Scores, score

RUNS = 20


@pytest.mark.slow
def test_ndcg_exceeds_95_percent_at_the_papers_parameters(seed: int) -> None:
    """Over 20 runs at seeds 0 to 19 the mean was 0.983, standard error 0.0013: 25 errors clear.

    The clients alone at ε = 1 must not pass, so the test can fail.
    """
    log = synthesize(Shape.AOL)
    coded = CodedLog.of(log.user, log.query, log.url)
    assert np.mean([s.ndcg for s in scores(coded, 4.0, seed)]) >= 0.95
    assert np.mean([s.ndcg_clients for s in scores(coded, 1.0, seed)]) < 0.95


def scores(log: CodedLog, epsilon: float, seed: int) -> list[Scores]:
    parameters = Parameters(preset="paper", epsilon=epsilon, delta=1e-5, head_list_size=50)
    found = []
    for run in range(seed, seed + RUNS):
        coins = Randomness.seeded(run)
        population = CodedPopulation.draw(log, opt_in=0.05, seed=run, randomness=coins)
        result = blender(population, parameters, coins)
        found.append(score(result, log.true_cells(result.head_list)))
    return found
