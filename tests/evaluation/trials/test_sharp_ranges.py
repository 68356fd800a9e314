"""The ``sharp`` preset answers for every promise and every size of group, without a warning.

Warnings are errors here, so a division by nothing or an overflow on the way would fail.
"""

from functools import cache

import numpy as np
import pytest

from blender_dp.core.blender import blender
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation

SHAPES = (Shape.AOL_SINGLE, Shape.AOL_MULTI)


@cache
def coded(shape: Shape) -> CodedLog:
    """Make a log when a test needs it, not in every process that collects the tests."""
    log = synthesize(shape, users=20_000, seed=0)
    return CodedLog.of(log.user, log.query, log.url)


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("opt_in", [0.0005, 0.05, 0.5, 0.9995])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("declared", [False, True])
def test_every_promise_and_size_has_an_answer(
    seed: int, shape: Shape, epsilon: float, opt_in: float, declared: bool
) -> None:
    randomness = Randomness.seeded(seed)
    population = CodedPopulation.draw(coded(shape), opt_in=opt_in, seed=seed, randomness=randomness)
    parameters = Parameters(epsilon=epsilon, delta=1e-4, one_record_each=declared)
    result = blender(population, parameters, randomness)
    for level in (result.blended.cells, result.blended.queries):
        low, high = level.interval()
        assert level.projected.sum() == pytest.approx(1)
        assert level.projected.min() >= 0
        assert np.isfinite([low, high, level.opt_in_weight]).all()
        assert (low <= high).all()
