"""Floating-point noise read backwards (Mironov, CCS 2012).

A textbook Laplace release b·ln(u) + count, in doubles, can take only some values, and not the
same ones for count 0 as for count 1. The attack inverts it: which u could have made this release?
It is sound, so that one feasible count is certain knowledge. Against integers it has nothing.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from blender_dp.core.estimate_optin_probabilities.paper import opt_in_estimates
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.randomness import Randomness, WordArray
from blender_dp.core.head_list.cells import Cells, FloatArray
from exact_tests import FALSE_ALARM, binomial_p_value

RELEASES = 4_000
SCALE = 0.5  # 2/ε at ε = 4
UNIFORMS = 2**53
NEARBY = 8
"""How many neighbours of the likeliest u are tried: exp and ln err by less than two units."""


def textbook_release(counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Add Laplace noise as found in many a library: a sign and a logarithm."""
    u = rng.integers(1, UNIFORMS, len(counts)) / UNIFORMS
    sign = rng.choice([-1.0, 1.0], len(counts))
    return counts + sign * (SCALE * np.log(u))


def feasible(released: FloatArray, count: float) -> NDArray[np.bool_]:
    """Tell which releases some u = k/2^53 could have made from ``count``, by trying the k's."""
    found = np.zeros(len(released), dtype=np.bool_)
    noise = released - count
    likeliest = np.rint(np.exp(-np.abs(noise) / SCALE) * UNIFORMS)
    for step in range(-NEARBY, NEARBY + 1):
        u = np.clip(likeliest + step, 1, UNIFORMS - 1) / UNIFORMS
        magnitude = SCALE * np.log(u)
        found |= (count + magnitude == released) | (count - magnitude == released)
    return found


def share_told(released: FloatArray, true_count: int) -> float:
    """Return the share of releases from which the attack is certain of the count."""
    from_zero, from_one = feasible(released, 0.0), feasible(released, 1.0)
    assert np.all(from_one if true_count else from_zero), "the attack is not sound"
    return float(np.mean(from_zero != from_one))


@pytest.mark.parametrize("true_count", [0, 1])
def test_the_attack_reads_a_textbook_release(true_count: int, seed: int) -> None:
    """A large share is told with certainty: about 78 % of zeros and 66 % of ones."""
    rng = np.random.default_rng(seed)
    released = textbook_release(np.full(RELEASES, float(true_count)), rng)
    assert share_told(released, true_count) > 0.3


def test_the_attack_tells_seven_releases_in_ten(seed: int) -> None:
    """0.72 on average, for either count. A tenth away over 8,000 releases: e^-160 (Hoeffding)."""
    rng = np.random.default_rng(seed)
    shares = [
        share_told(textbook_release(np.full(RELEASES, float(count)), rng), count)
        for count in (0, 1)
    ]
    assert 0.62 < sum(shares) / 2 < 0.82


class Scripted(Randomness):
    """A source whose draws below a bound, and whose sign, are given."""

    def __init__(self, below: list[int], sign: int) -> None:
        super().__init__(bytes(32), is_private=False)
        self.script = below
        self.sign = sign

    def below(self, bound: int) -> int:
        draw = self.script.pop(0)
        assert 0 <= draw < bound
        return draw

    def bits(self, count: int) -> int:
        assert count == 1
        return self.sign

    def words(self, count: int) -> WordArray:
        raise NotImplementedError


def coins_for(y: int, scale: Fraction) -> Scripted:
    """Return coins from which the sampler draws exactly ``y``.

    abs(y) = ⌊(u + t·v)/s⌋ for scale t/s. A coin e^(-u/t) that succeeds at once has one draw of at
    least u; a coin e^-1 succeeds by the draws 0, 0, 1 below 1, 2, 3 and fails by 0, 1.
    """
    t, s = scale.numerator, scale.denominator
    v, u = divmod(abs(y) * s, t)
    return Scripted([u, t - 1, *([0, 0, 1] * v), 0, 1], sign=int(y < 0))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(20, 7)])
def test_our_release_takes_every_value_from_every_count(scale: Fraction) -> None:
    """Constructed, not sampled: for any release there are coins for count 0 and for count 1."""
    noise = DiscreteLaplace(scale)
    for released in range(-40, 41):
        for count in (0, 1):
            coins = coins_for(released - count, scale)
            assert count + noise.draw(coins) == released
            assert coins.script == []


def ours(count: int, seed: int) -> NDArray[np.int64]:
    noise, randomness = DiscreteLaplace(Fraction(1, 2)), Randomness.seeded(seed)
    drawn = np.array([noise.draw(randomness) for _ in range(RELEASES)] + [RELEASES])
    estimates = opt_in_estimates(
        count + drawn, Cells.of([RELEASES]), total=1000, scale=Fraction(1, 2)
    )
    assert estimates.cells.probability[0] == estimates.counts[0] / 1000
    return estimates.counts[:RELEASES]


def test_the_attack_finds_nothing_in_our_release(seed: int) -> None:
    """What is released is an integer; every integer is feasible from both counts (see above)."""
    for count in (0, 1):
        released = ours(count, seed + count)
        assert released.dtype == np.int64
        assert all(coins_for(int(y) - c, Fraction(1, 2)) for y in set(released) for c in (0, 1))
    zero, one = (Counter(ours(count, seed + count).tolist()) for count in (0, 1))
    common = [y for y in zero if zero[y] > 50 or one[y] > 50]
    assert all(zero[y] and one[y] for y in common)


def test_guessing_from_our_release_is_as_hard_as_promised(seed: int) -> None:
    """The best guess of 0 or 1, "above one half?", is right with probability 1/(1+a) and no more.

    b = 1/2: a = e^-2, 0.881; exact binomial tails, a false alarm in 1e9.
    """
    right = int(np.sum(ours(0, seed) < 1))
    best = 1 / (1 + np.exp(-2.0))
    assert binomial_p_value(right, RELEASES, best) > FALSE_ALARM
