"""Plan of the Laplace branch: threshold and noise for one record per user, and their exact δ.

A record that c users gave is released with the value c + Y if that is at least T. The slopes of
Y add up to ε. Everything here is exact: :mod:`~blender_dp.core.curator.laplace_search` proposes in
floats, this file proves in fractions. The proof is in ``create_head_list/PRIVACY.md``.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

from blender_dp.core.certificate.swap_divergence import MOST_ENUMERATED, worst_swap
from blender_dp.core.curator.laplace_search import CandidateLaw, best_candidate
from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.exact.enclosure import Enclosure

LEAST_EPSILON = Fraction(1, 10**6)
"""Smallest ε; below it a record would need more than ten million users to be found."""
_STEPS = 1 << 40
"""Number of steps of ε in the right slope: δ to six digits, with short fractions."""
_BITS = 256
"""Bits of every enclosure, beyond those for the smallest probability in it."""
_MOST_BITS = 1 << 14
"""Most bits, for an ε of about 4,000; beyond, a bound stays valid, but is not narrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplacePlan:
    """Noise of a count, and the threshold from which the noisy count is released."""

    threshold: int
    """T: the least value that is released."""
    noise: AsymmetricLaplace
    """Y."""

    def __post_init__(self) -> None:
        if self.threshold < 2:
            raise BrokenInvariantError("a threshold below 2 would let a record of one user pass")

    @property
    def epsilon(self) -> Fraction:
        """The ε that one discovery with this plan spends: sR + sL."""
        return self.noise.right + self.noise.left

    @property
    def half(self) -> float:
        """The count that passes with probability one half, for display and estimates."""
        share = float(self.noise.right / self.epsilon)
        return CandidateLaw(float(self.epsilon), self.threshold, share).half()

    def passing(self, count: int, bits: int) -> Enclosure:
        """Enclose π(c) = Pr[c + Y ≥ T] for a count c ≥ 1."""
        return self.noise.tail(self.threshold - count, bits)


@cache
def laplace_plan(epsilon: Fraction, delta: Fraction) -> LaplacePlan:
    """Return the plan that finds the most records and is (ε, δ)-private.

    For each threshold the smallest right slope that is private is used. Of these, the threshold
    with the most records expected to pass is chosen, if counts are distributed as in search logs.

    Args:
        epsilon: The share of ε that discovery may spend.
        delta: All of δ.
    """
    _require_range(epsilon, delta)
    candidate = best_candidate(epsilon, delta)
    steps, more = ceil(candidate.share * _STEPS), 1
    while steps < _STEPS:
        right = epsilon * steps / _STEPS
        noise = AsymmetricLaplace(right=right, left=epsilon - right)
        plan = LaplacePlan(threshold=candidate.threshold, noise=noise)
        if is_private(plan, delta):
            return plan
        steps, more = steps + more, 2 * more  # a float was rounded to the unsafe side
    raise BrokenInvariantError("the search proposed a threshold that no slope makes private")


def _require_range(epsilon: Fraction, delta: Fraction) -> None:
    if not (isinstance(epsilon, Fraction) and isinstance(delta, Fraction)):
        raise BrokenInvariantError("a plan is made from fractions")
    if epsilon < LEAST_EPSILON:
        raise ParameterError("epsilon", "at least 1e-6 to find records with", float(epsilon))
    if not 0 < delta < 1:
        raise ParameterError("delta", "strictly between 0 and 1", float(delta))


def is_private(plan: LaplacePlan, delta: Fraction) -> bool:
    """Tell whether π = Pr[1 + Y ≥ T] is at most δ, for a record of one user (see the proof)."""
    pi = plan.passing(1, _working_bits(plan))
    return Fraction(pi.high, 1 << pi.bits) <= delta


def enumerated_delta(plan: LaplacePlan, epsilon: Fraction) -> Fraction:
    """Return the smallest δ for which the plan is (ε, δ)-private, from above.

    Over all swaps n → n-1, m → m+1, n ≥ 1, m ≥ 0, of which four cover all others
    (``swap_divergence``; PRIVACY.md, "The exact δ"). For an ε that is too large for that, and no
    less than the plan's own, it is the bound π of the proof.

    Args:
        plan: Any threshold and noise, private or not.
        epsilon: ε at which δ is computed; the plan's own, or another.
    """
    bits = _working_bits(plan, epsilon)
    if MOST_ENUMERATED < epsilon >= plan.epsilon:
        return plan.passing(1, bits).ends()[1]
    # Values of n and more are the upper outcome of a count n ≥ T.
    at_threshold = (plan.noise.tail(0, bits), plan.noise.tail(1, bits))
    return worst_swap(plan.passing(1, bits), at_threshold, epsilon)


def _working_bits(plan: LaplacePlan, epsilon: Fraction = Fraction(0)) -> int:
    """Return enough bits for π, which is about e^(-sR·T), and for cancellation at e^ε."""
    exponent = plan.noise.right * plan.threshold + plan.epsilon + epsilon
    return _BITS + min(2 * ceil(exponent), _MOST_BITS)
