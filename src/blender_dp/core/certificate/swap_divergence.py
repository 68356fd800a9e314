"""Hockey-stick divergence of two releases that differ in the record of one user.

The rule releases each record independently, if its count plus noise reaches a threshold.
One user moves from record r (count n, then n - 1) to r' (count m, then m + 1). For noise that
falls off geometrically on either side four swaps cover all others, for any threshold L:

- Outputs of equal likelihood ratio are one outcome. That leaves two for a record: an upper one,
  and the rest, of which only the probability of the upper one is needed, before and after.
- 2 ≤ n < L has the outcomes of n = L with some of the upper ones withheld at random; n > L, where
  only names are released, those of n = L with some of the lower ones let pass at random, and
  where values are released exactly those of n = L. A divergence cannot grow when both distributions
  are processed in the same way.
- n = 1 is different: afterwards no user has the record.
- m is the same swap in reverse: 0, or L - 1.
- A swap without r or without r' leaves one record out of a product of two, which is processing.
"""

from fractions import Fraction
from itertools import product

from blender_dp.core.exact.enclosure import Enclosure, decay_enclosure

MOST_ENUMERATED = 1000
"""Largest ε for the enumeration, which needs about e^ε more digits; above, the proof's bound."""


def worst_swap(
    alone: Enclosure, among_many: tuple[Enclosure, Enclosure], epsilon: Fraction
) -> Fraction:
    """Return the largest Σ max(0, Pr_D[o] - e^ε·Pr_D'[o]) over all swaps of a user, rounded up.

    Args:
        alone: Probability that a record of one user is released.
        among_many: Probabilities of the upper outcome of a record at the threshold, before it loses
            a user and after.
        epsilon: ε at which the divergence is computed.
    """
    swaps = ((alone, Enclosure(0, 0, alone.bits)), among_many)
    return max(_divergence(removed, added, epsilon) for removed, added in product(swaps, swaps))


def worst_presence(
    alone: Enclosure, among_many: tuple[Enclosure, Enclosure], epsilon: Fraction
) -> Fraction:
    """Return the same over all additions and removals of a user: one record changes, not two.

    The other record of a swap is then one that nobody gives, before or after.
    """
    never = (Enclosure(0, 0, alone.bits), Enclosure(0, 0, alone.bits))
    moves = ((alone, never[0]), among_many)
    return max(
        _divergence(removed, added, epsilon)
        for move in moves
        for removed, added in ((move, never), (never, move))
    )


def _divergence(
    removed: tuple[Enclosure, Enclosure], added: tuple[Enclosure, Enclosure], epsilon: Fraction
) -> Fraction:
    """Return Σ max(0, P - e^ε·Q) over the four outcomes of two records, rounded up.

    Args:
        removed: Probabilities of the upper outcome of a record before and after it loses a user.
        added: Probabilities of another record, which gains the user: after, and before.
        epsilon: ε.
    """
    bits = removed[0].bits
    odds = (1 << 2 * bits) // decay_enclosure(epsilon, bits).high  # a lower bound of e^ε is enough
    (p, q), (q_other, p_other) = removed, added
    total = 0
    for p_1, q_1 in ((p, q), (p.complement(), q.complement())):
        for p_2, q_2 in ((p_other, q_other), (p_other.complement(), q_other.complement())):
            excess = p_1.times(p_2).high - (odds * q_1.times(q_2).low >> bits)
            total += max(excess, 0)
    return min(Fraction(total, 1 << bits), Fraction(1))
