"""LocalAlg's probabilities derived from Fig. 6 a second time, so that a slip shows in one of two.

Nothing here is shared with the code under test: exponentials come from ``decimal``, and the
matrix is filled by walking through the figure's branches, cell by cell.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

WORD = 2**64
DIGITS = 300


class Promise(NamedTuple):
    """The inputs of Fig. 6."""

    epsilon: Fraction
    delta: Fraction = Fraction(1, 10**5)
    f_c: Fraction = Fraction(85, 100)
    m_c: int = 1


def exp(x: Fraction) -> Fraction:
    """Return e^x to 300 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def truth(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """Return t of lines 4 and 6, cut to 64 binary places as devices must."""
    odds = exp(epsilon)
    t = (odds + delta / 2 * (k - 1)) / (odds + k - 1)
    return Fraction(int(t * WORD), WORD)


def matrix(listed_urls: list[int], promise: Promise) -> list[list[Fraction]]:
    """Return Pr[report y | true cell x] as rows x and columns y."""
    epsilon, delta = promise.epsilon / promise.m_c, promise.delta / promise.m_c  # line 2
    epsilon_q, delta_q = promise.f_c * epsilon, promise.f_c * delta  # line 3
    epsilon_u, delta_u = epsilon - epsilon_q, delta - delta_q
    sizes = [*(n + 1 for n in listed_urls), 1]  # every HL[q] has ⋆; the query ⋆ has only ⋆
    k = len(sizes)
    t = truth(epsilon_q, delta_q, k)  # line 4
    t_of = [truth(epsilon_u, delta_u, k_q) for k_q in sizes]  # line 6
    cells = [(q, u) for q, k_q in enumerate(sizes) for u in range(k_q)]

    def probability(true: tuple[int, int], told: tuple[int, int]) -> Fraction:
        (q, u), (other_q, other_u) = true, told
        if other_q != q:  # lines 12-16
            return (1 - t) / (k - 1) / sizes[other_q]
        if other_u != u:  # lines 17-20
            return t * (1 - t_of[q]) / (sizes[q] - 1)
        return t * t_of[q]  # line 21

    return [[probability(true, told) for told in cells] for true in cells]


def hockey_stick(p: list[Fraction], q: list[Fraction], odds: Fraction) -> Fraction:
    """Return the least δ for which p is (ln odds, δ)-close to q."""
    return sum((max(a - odds * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))
