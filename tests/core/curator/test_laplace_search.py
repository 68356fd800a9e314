"""The search for a threshold finds what looking at every threshold would find."""

import math
from fractions import Fraction

import numpy as np
import pytest

from blender_dp.core.curator.laplace_search import (
    CandidateLaw,
    best_candidate,
    least_slope,
    thresholds,
)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.05, 1e-5), (0.1, 1e-9), (0.3, 1e-6), (1, 1e-5), (3.4, 1e-7), (5, 1e-12), (11, 0.01)],
)
def test_the_search_finds_the_best_of_all_thresholds(epsilon: float, delta: float) -> None:
    low, high = thresholds(epsilon, math.log(delta))
    scores = {
        threshold: least_slope(epsilon, math.log(delta), threshold).score()
        for threshold in range(low, high + 1)
    }
    found = best_candidate(Fraction(epsilon), Fraction(delta))
    assert found.score() == pytest.approx(max(scores.values()), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.02, 1e-5), (1, 1e-5), (4, 1e-9), (12, 0.5)])
def test_the_bracket_leaves_out_nothing_better(epsilon: float, delta: float) -> None:
    """Below it no slope serves; above it the noise stays as it is and the threshold only rises."""
    low, high = thresholds(epsilon, math.log(delta))
    steepest = CandidateLaw(epsilon, low - 1, 0.99)
    if low > 2:
        assert steepest.passing(np.array([1.0]))[0] > delta
    last, beyond = (least_slope(epsilon, math.log(delta), t) for t in (high, high + 1))
    assert last.share == beyond.share == 0.3
    assert beyond.score() < last.score()


@pytest.mark.parametrize("law", [CandidateLaw(1.0, 13, 0.839), CandidateLaw(0.05, 230, 0.83)])
def test_a_score_is_the_sum_over_all_counts(law: CandidateLaw) -> None:
    """Every count up to two million; the rest passes for certain, and is about an integral."""
    counts = np.arange(1.0, 2e6)
    direct = math.fsum(counts**-2.1 * law.passing(counts)) + (2e6 - 0.5) ** -1.1 / 1.1
    assert law.score() == pytest.approx(direct, rel=1e-6)


def test_what_passes_is_what_the_law_says() -> None:
    """Pr[c + Y ≥ 3] of slopes ln 2 and ln 3, in sixths: Z = (1/2)(2/3)/(5/6) = 2/5."""
    epsilon = math.log(6)
    law = CandidateLaw(epsilon, 3, math.log(2) / epsilon)
    passing = law.passing(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    expected = [1 / 5, 2 / 5, 4 / 5, 4 / 5 + 2 / 15, 4 / 5 + 2 / 15 + 2 / 45]
    assert passing.tolist() == pytest.approx(expected)
    assert law.half() == pytest.approx(2.25)
