"""Release of noisy weights above the threshold, at a cost per released weight, not per record.

Every record with a sum W of weights gets its own discrete Gaussian noise X, and is released with D
= W + X if D > τ. Most records are rare and would need very large noise: for them only noise that is
large enough is drawn.

The law. Take n records with sums of at most b, and t = τ + 1 - b, so that noise below t
releases none of them. By :meth:`DiscreteGaussian.candidate_probability` one record's noise has
the law: candidate with probability q, then t + j, j geometric, which stands with probability
e^(-j²/2σ²); else below t. Records are independent, so the number of candidates is
Binomial(n, q), each candidate stands independently, and the set that stands is, given its size, a
uniform subset of the n records, independent of the noise of each. That is how they are drawn. The
noise of all others is below t and is not drawn. If t is below one standard
deviation, noise is drawn for every record. In both cases each record's noise, if it can be
released, has the distribution of a separate draw, and all are independent: PRIVACY.md, "The code
draws this law".
"""

from bisect import bisect_left

import numpy as np

from blender_dp.core.curator.gaussian_plan import GaussianPlan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.binomial import binomial
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.enclosure import Enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import Record, byte_order
from blender_dp.core.population import RecordSums


def class_width(plan: GaussianPlan) -> int:
    """Return the width of a class of sums: a sixteenth of a deviation.

    A sum at the lower end of its class makes e^(t/16σ) times as many candidates as its own
    probability would: 1.4 times where a release is rarest. Below τ there are about a
    hundred classes.
    """
    return max(plan.discovery_sigma // 16, 1)


def release_weights(
    sums: RecordSums, plan: GaussianPlan, randomness: Randomness
) -> list[tuple[Record, int]]:
    """Return the records whose noisy sum exceeds τ, with that sum, in byte order.

    Privacy: part of what ``gaussian_plan`` accounts for; see
    PRIVACY.md beside this file. The order reveals nothing beyond the sums.

    Args:
        sums: Sums of the weights that users gave to each record.
        plan: σ and τ of discovery.
        randomness: Source of the noise.
    """
    noise = DiscreteGaussian(plan.discovery_sigma)
    bounds, sizes = (column.tolist() for column in sums.classes())
    chosen: list[tuple[int, IntArray]] = []
    drawn: dict[int, list[int]] = {}
    for bound, size in zip(bounds, sizes, strict=True):
        least = plan.threshold + 1 - bound
        if least >= noise.sigma:
            far = _far_noise(noise, least, size, randomness)
            positions = randomness.choose(len(far), among=size)
        else:
            far = [noise.draw(randomness) for _ in range(size)]
            positions = np.arange(size)
        if far:
            chosen.append((bound, positions))
            drawn[bound] = far
    released = []
    # The noises of a class are identically distributed and independent of the choice of records, so
    # they may be assigned in any order. Sorted by bytes, so that the order of the data has no
    # effect.
    for record, weight in sorted(sums.fetch(chosen), key=lambda found: byte_order(found[0])):
        place = bisect_left(bounds, weight)  # the class of the next bound
        noises = drawn.get(bounds[place]) if place < len(bounds) else None
        if not noises or weight <= 0:
            raise BrokenInvariantError("a sum of weights is outside the class it was counted in")
        noisy = weight + noises.pop()
        if noisy > plan.threshold:
            released.append((record, noisy))
    return released


def _far_noise(noise: DiscreteGaussian, least: int, size: int, randomness: Randomness) -> list[int]:
    """Draw the values of at least ``least`` among ``size`` independent noises, in any order."""

    def is_candidate(bits: int) -> Enclosure:
        return noise.candidate_probability(least, bits)

    candidates = binomial(size, is_candidate, randomness)
    outcomes = (noise.draw_candidate(least, randomness) for _ in range(candidates))
    return [x for x in outcomes if x is not None]
