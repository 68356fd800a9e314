"""Coins of probability e^-x and geometric draws, from uniform integers only.

Both are pieces of Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy"
(NeurIPS 2020): integers are drawn and compared, nothing is rounded, and draws are repeated until
one is accepted. All exact noise of this package is built from them.
"""

from fractions import Fraction

from blender_dp.core.exact.randomness import Randomness


def exp_coin(numerator: int, denominator: int, randomness: Randomness) -> bool:
    """Return True with probability e^(-numerator/denominator), for any fraction of at least 0.

    Algorithm 1 of the paper: of coins with probabilities x/1, x/2, x/3, … the first to fail
    has an odd number with probability e^-x, for x up to 1; beyond, whole units come first.
    """
    while numerator > denominator:
        if not exp_coin(1, 1, randomness):
            return False
        numerator -= denominator
    k = 1
    while randomness.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def geometric(slope: Fraction, randomness: Randomness) -> int:
    """Draw G ≥ 0 with Pr[G = g] = (1 - e^-slope)·e^(-slope·g).

    The magnitude of Algorithm 2 of the paper, for slope s/t: U + t·V falls by e^(-1/t) per step,
    and its quotient by s therefore by e^(-s/t).
    """
    s, t = slope.numerator, slope.denominator
    while not exp_coin(u := randomness.below(t), t, randomness):
        pass
    v = 0
    while exp_coin(1, 1, randomness):
        v += 1
    return (u + t * v) // s
