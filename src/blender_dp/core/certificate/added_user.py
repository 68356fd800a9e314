"""Privacy cost of opt-in releases if a user's data are added or removed instead of exchanged.

Peers often quote this definition. Noise and thresholds were chosen for swaps; this computes what
they give for it. The proofs are in create_head_list/PRIVACY.md, "Added or removed". The number of
users is published exactly under both definitions: neither hides that somebody takes part.
"""

from fractions import Fraction
from math import ceil

from blender_dp.core.certificate.swap_divergence import MOST_ENUMERATED, worst_presence
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.curator.gaussian_plan import GaussianPlan, presence_delta
from blender_dp.core.curator.laplace_plan import LaplacePlan
from blender_dp.core.parameters import Parameters, exact

_BITS = 256
_MOST_BITS = 1 << 14


def count_delta(plan: LaplacePlan, epsilon: Fraction) -> Fraction:
    """Return the least δ of released counts with two slopes, rounded up."""
    bits = _bits(plan.noise.right * plan.threshold + plan.epsilon + epsilon)
    alone = plan.passing(1, bits)
    if epsilon > MOST_ENUMERATED:
        return alone.ends()[1] if epsilon >= plan.epsilon else Fraction(1)
    return worst_presence(alone, (plan.noise.tail(0, bits), plan.noise.tail(1, bits)), epsilon)


def name_delta(parameters: Parameters, epsilon: Fraction) -> Fraction:
    """Return a δ of released names (Fig. 3), rounded up; the least one for m_O = 1."""
    m_o = parameters.records_per_optin_user
    if m_o > 1 or epsilon > MOST_ENUMERATED:
        # A user moves half of what a swap moves: the bound for twice this ε holds.
        return paper_discovery.enumerated_delta(parameters, 2 * epsilon)
    noise, least = (
        paper_discovery.name_noise(parameters),
        paper_discovery.least_passing_count(parameters),
    )
    bits = _bits(least / noise.scale + exact(parameters.epsilon) + epsilon)
    among_many = noise.tail(0, bits), noise.tail(1, bits)
    return worst_presence(noise.tail(least - 1, bits), among_many, epsilon)


def weight_delta(plan: GaussianPlan, epsilon: Fraction) -> Fraction:
    """Return a δ of the Gaussian branch's three releases together, rounded up."""
    return presence_delta(plan, epsilon)


def _bits(exponent: Fraction) -> int:
    """Return enough bits for the smallest probability, and for cancellation at e^ε."""
    return _BITS + min(2 * ceil(exponent), _MOST_BITS)
