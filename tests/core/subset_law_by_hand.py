"""Subset selection derived from its definition a second time, so that a slip shows in one of two.

Nothing here is shared with the code under test: exponentials come from ``decimal``, and laws are
enumerated subset by subset.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import floor

from core.fig_6_by_hand import WORD, exp

Subset = tuple[int, ...]
Counts = tuple[int, ...]


def candidates(size: int, epsilon: Fraction) -> list[int]:
    """Return 1 and the integers around N/(e^ε+1), from 1 to N-1."""
    below = floor(size / (exp(epsilon) + 1))
    return sorted({min(max(d, 1), size - 1) for d in (1, below, below + 1)})


def pin(size: int, d: int, epsilon: Fraction) -> Fraction:
    """Return how often the truth is named, not rounded."""
    odds = d * exp(epsilon)
    return odds / (odds + size - d)


def rounded(probability: Fraction) -> Fraction:
    """Cut to 64 binary places, as devices must."""
    return Fraction(floor(probability * WORD), WORD)


def pout(size: int, d: int, p_in: Fraction) -> Fraction:
    """Return how often another item is named, as the specification writes it."""
    return p_in * Fraction(d - 1, size - 1) + (1 - p_in) * Fraction(d, size - 1)


def rare_variance(size: int, d: int, epsilon: Fraction) -> Fraction:
    """Return the variance of an item that nobody holds, for one report."""
    p_in = pin(size, d, epsilon)
    p_out = pout(size, d, p_in)
    return p_out * (1 - p_out) / (p_in - p_out) ** 2


def law(size: int, d: int, p_in: Fraction, item: int) -> dict[Subset, Fraction]:
    """Return the probability of every report of a client who holds ``item``."""
    others = [x for x in range(size) if x != item]
    with_truth = [tuple(sorted((item, *some))) for some in combinations(others, d - 1)]
    without = list(combinations(others, d))
    return {
        **dict.fromkeys(with_truth, p_in / len(with_truth)),
        **dict.fromkeys(without, (1 - p_in) / len(without)),
    }


def joint_law(size: int, d: int, p_in: Fraction, true_counts: Counts) -> dict[Counts, float]:
    """Return the probability of every vector of counts, by enumeration over all clients."""
    people = [item for item, count in enumerate(true_counts) for _ in range(count)]
    laws = [law(size, d, p_in, item) for item in people]
    found: Counter[Counts] = Counter()
    for told in product(*laws):
        p = Fraction(1)
        for of_one, subset in zip(laws, told, strict=True):
            p *= of_one[subset]
        counts = Counter(x for subset in told for x in subset)
        found[tuple(counts[x] for x in range(size))] += p  # type: ignore[assignment]  # exact
    return {counts: float(p) for counts, p in found.items() if p}
