"""The enclosed law of a binomial number against exact fractions."""

from fractions import Fraction
from math import comb

import pytest

from blender_dp.core.exact.binomial_law import binomial_law

LAWS = [
    (0, Fraction(1, 3)),
    (1, Fraction(1, 2)),
    (12, Fraction(1, 7)),
    (40, Fraction(99, 100)),
    (120, Fraction(1, 50)),
    (200, Fraction(1, 2)),
]


@pytest.mark.parametrize(("trials", "probability"), LAWS)
@pytest.mark.parametrize("bits", [4, 64])
def test_encloses_every_weight_and_both_tails(
    trials: int, probability: Fraction, bits: int
) -> None:
    law = binomial_law(trials, probability, bits)
    exactly = [
        comb(trials, i) * probability**i * (1 - probability) ** (trials - i)
        for i in range(trials + 1)
    ]
    weights = [each * 2**bits / max(exactly) for each in exactly]
    last = law.first + len(law.low)
    assert 0 <= law.first < last <= trials + 1
    for low, weight, high in zip(law.low, weights[law.first : last], law.high, strict=True):
        assert low <= weight <= high
    assert sum(weights[: law.first]) <= law.below
    assert sum(weights[last:]) <= law.above
    assert law.least_total <= sum(weights) <= law.most_total


def test_is_narrow() -> None:
    law = binomial_law(5_000_000, Fraction(1, 3), 128)
    assert len(law.low) < 2 * 14 * 1055  # standard deviations
    assert law.most_total - law.least_total < 2 ** (128 - 90)
