"""CreateHeadList as the paper states it (Fig. 3, ``fig:opt-in-alg-headlist``).

Privacy: (ε, δ/(1+a)) in the trusted-curator model, for any m_O; see PRIVACY.md beside this
file. The noise is discrete Laplace of the same scale (reading R4), drawn for a whole
class of equal counts at once: every record of count c survives with the same probability
Pr[c + Y > τ], independently of the others, so the number of survivors among n_c such records
is Binomial(n_c, Pr[c + Y > τ]) and, given their number, every set of them is equally likely.
That is the law of a draw for each record, at the cost of a draw for each distinct count.
"""

from fractions import Fraction
from math import floor

from blender_dp.core.discrete_laplace import DiscreteLaplace
from blender_dp.core.enclosure import Enclosure, exp_enclosure, ln_enclosure
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact_binomial import binomial
from blender_dp.core.head_list import HeadList
from blender_dp.core.mechanism import LocalAlgMechanism
from blender_dp.core.parameters import Parameters, exact
from blender_dp.core.population import OptInUsers
from blender_dp.core.randomness import Randomness

_BITS = 256
WIDEST_NOISE = 2**40
"""The widest scale of noise, in counts: its draws stay within 64 bits."""


def create_head_list(users: OptInUsers, parameters: Parameters, randomness: Randomness) -> HeadList:
    """Return the records whose noisy count passes the threshold (the paper's HL_S).

    Paper: Fig. 3, all lines; ⟨⋆,⋆⟩ of line 13 is every head list's last cell.

    Args:
        users: S, who give m_O records each.
        parameters: ε, δ and m_O.
        randomness: Where the noise comes from.
    """
    require_provable(parameters)
    m_o = parameters.records_per_optin_user
    noise = DiscreteLaplace(parameters.laplace_scale)
    least = least_passing_count(parameters)
    counts = users.record_counts(m_o)
    survivors = []
    for count, size in zip(*(column.tolist() for column in counts.classes()), strict=True):

        def passes(bits: int, count: int = count) -> Enclosure:
            return noise.tail(least - count, bits)

        number = binomial(size, passes, randomness)
        if number:
            survivors.append((count, randomness.choose(number, among=size)))
    return HeadList.of(
        counts.fetch(survivors),
        mechanism=LocalAlgMechanism.of(parameters),
        private=randomness.is_private,
    )


def count_threshold(parameters: Parameters) -> Fraction:
    """Return τ = max{b_S(ln(e^(ε/2) + m_O - 1) - ln δ), 1} (line 7), rounded up a little."""
    m_o = parameters.records_per_optin_user
    epsilon, delta = exact(parameters.epsilon), exact(parameters.delta)
    # ln(e^(ε/2) + m - 1) = ε/2 + ln(1 + (m-1)e^(-ε/2)), which cannot overflow.
    rest = 1 + (m_o - 1) * Fraction(exp_enclosure(-epsilon / 2, _BITS).high, 1 << _BITS)
    logarithm = ln_enclosure(rest / delta, _BITS)
    return max(
        parameters.laplace_scale * (epsilon / 2 + Fraction(logarithm.high, 1 << _BITS)), Fraction(1)
    )


def least_passing_count(parameters: Parameters) -> int:
    """Return the smallest integer above τ: what a noisy count must reach (line 10)."""
    return floor(count_threshold(parameters)) + 1


def require_provable(parameters: Parameters) -> None:
    """Refuse the parameters for which the proof in PRIVACY.md does not hold."""
    scale = parameters.laplace_scale
    if scale > WIDEST_NOISE:
        raise ParameterError(
            "epsilon",
            "at least 2·m_O/2^40, so that noisy counts fit 64 bits "
            f"(m_O is {parameters.records_per_optin_user})",
            parameters.epsilon,
        )
    a = Fraction(exp_enclosure(-1 / scale, _BITS).low, 1 << _BITS)
    slack = -ln_enclosure(1 - exact(parameters.delta) / (1 + a), _BITS).low
    if 1 / scale < Fraction(slack, 1 << _BITS):
        raise ParameterError(
            "epsilon",
            "at least about m_O·δ, as the proof of CreateHeadList needs "
            f"(m_O is {parameters.records_per_optin_user}, δ is {parameters.delta})",
            parameters.epsilon,
        )
