"""Privacy cost of one report: the tight pure ε of its channel, rounded up to a millionth.

A device debits this number, not the ε that a list names. With ``local-alg`` and δ > 0 a report can
reveal far more than ε. (ε, δ) bounds the probability of that, but a device that reports often must
count the most that a report can reveal.

Claim: for every two inputs a, b and every output y, P(y | a) ≤ e^cost · P(y | b), and no smaller
multiple of 10⁻⁶ has this property.

Proof: the channel's ``likelihood_ratio`` is the largest P(y | a)/P(y | b) over all y, a, b, an
exact fraction of integer thresholds. In ``local-alg`` an output is one listed cell; its probability
depends on whether the input is the cell itself, another cell of its query, or a cell of another
query; all three are positive, as every threshold is above 0 and, where there is a choice, below
2^64. By subset selection an output is a question and a set of items; the public coin that asks the
question does not depend on the input, so the ratio is that of the items, and the larger one of both
questions is taken. The cost is ln of that ratio, rounded up. Reports are drawn with independent
coins, so the costs of several reports add up (basic composition). ∎
"""

import math
from fractions import Fraction

from blender_dp.core.exact.enclosure import ln_enclosure
from blender_dp.core.head_list.head_list import HeadList

COST_UNIT = Fraction(1, 10**6)
"""Costs are multiples of this."""
_BITS = 256


def report_cost(head_list: HeadList) -> Fraction:
    """Return the most that one report against ``head_list`` can reveal: a pure ε, rounded up.

    For subset selection this is at most the list's ε, for ``local-alg`` it may be more.
    """
    return _rounded_up(head_list.mechanism.likelihood_ratio(head_list.cells))


def cost_text(cost: Fraction) -> str:
    """Write a cost with six decimals, as ledgers store it.

    >>> cost_text(Fraction(5, 4))
    '1.250000'
    """
    units = math.ceil(cost / COST_UNIT)
    return f"{units // 10**6}.{units % 10**6:06}"


def _rounded_up(ratio: Fraction) -> Fraction:
    if ratio == 1:
        return Fraction(0)
    upper = ln_enclosure(ratio, _BITS).ends()[1]
    return math.ceil(upper / COST_UNIT) * COST_UNIT
