"""CreateHeadList as the paper states it (Fig. 3, ``fig:opt-in-alg-headlist``).

Privacy: (ε, δ/(1+a)) in the trusted-curator model, for any m_O; see PRIVACY.md beside this
file. The noise is discrete Laplace of the same scale (reading R4), drawn for a whole class of
equal counts at once (:mod:`~blender_dp.core.create_head_list.survivors`).
"""

from fractions import Fraction
from math import ceil, floor

from blender_dp.core.certificate.swap_divergence import MOST_ENUMERATED, worst_swap
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.create_head_list.survivors import draw_survivors
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.enclosure import Enclosure, exp_enclosure, ln_enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters, exact
from blender_dp.core.population import OptInUsers

_BITS = 256
_MOST_BITS = 1 << 14
"""Largest precision in bits. If it is not enough, the bound is still valid, but wider."""
WIDEST_NOISE = 2**40
"""The widest scale of noise, in counts: its draws stay within 64 bits."""


def create_head_list(
    users: OptInUsers,
    parameters: Parameters,
    randomness: Randomness,
    known: KnownList = NOTHING_KNOWN,  # noqa: ARG001 - the preset takes none
) -> Discovery:
    """Return the records whose noisy count passes the threshold (the paper's HL_S).

    Paper: Fig. 3, all lines; ⟨⋆,⋆⟩ of line 13 is every head list's last cell.

    Args:
        users: S; each gives m_O records.
        parameters: ε, δ and m_O.
        randomness: Source of the noise.
        known: Nothing: Fig. 3 has no such input.
    """
    require_provable(parameters)
    m_o = parameters.records_per_optin_user
    noise = name_noise(parameters)
    least = least_passing_count(parameters)
    counts = users.record_counts(m_o)

    def passing(count: int, bits: int) -> Enclosure:
        return noise.tail(least - count, bits)

    survivors = draw_survivors(counts.classes(), passing, randomness)
    return Discovery(
        head_list=HeadList.of(
            [record for record, _ in counts.fetch(survivors)],
            mechanism=LocalAlgMechanism.of(parameters),
            private=randomness.is_private,
        )
    )


def name_noise(parameters: Parameters) -> DiscreteLaplace:
    """Return the noise that decides which names are released; the certificate uses it too."""
    return DiscreteLaplace(parameters.laplace_scale)


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
    """Return the smallest integer above τ, which a noisy count must reach (line 10)."""
    return floor(count_threshold(parameters)) + 1


def users_to_list_a_record(parameters: Parameters) -> int:
    """Return the threshold for all opt-in users, of whom a share f_O finds the list."""
    return ceil(least_passing_count(parameters) / parameters.head_list_user_fraction)


def enumerated_delta(parameters: Parameters, epsilon: Fraction) -> Fraction:
    """Return a δ for which one discovery is (ε, δ)-private, rounded up.

    For m_O = 1 it is the smallest δ, by enumeration of all swaps (PRIVACY.md, "The exact δ"). For
    more records per user, or an ε that is too large for that, it is the bound of the proof, step 2,
    which holds from the promised ε on; below that ε it is 1.

    Args:
        parameters: ε, δ and m_O, which decide noise and threshold.
        epsilon: ε at which δ is computed; the promised one, or another.
    """
    m_o, least = parameters.records_per_optin_user, least_passing_count(parameters)
    noise = name_noise(parameters)
    exponent = least / parameters.laplace_scale + epsilon
    bits = _BITS + min(2 * ceil(exponent), _MOST_BITS)  # for e^(-L/b), and for cancellation at e^ε
    alone = noise.tail(least - m_o, bits)
    if m_o == 1 and epsilon <= MOST_ENUMERATED:
        return worst_swap(alone, (noise.tail(0, bits), noise.tail(1, bits)), epsilon)
    if epsilon < exact(parameters.epsilon) or not _is_provable(parameters):
        return Fraction(1)
    # Σ Pr[Y ≥ L - c_i] over counts c_i ≥ 0 with the sum m_O is largest for (m_O, 0, …, 0), each
    # term being a^(L - c_i)/(1 + a), since L > τ ≥ m_O.
    return alone.ends()[1] + (m_o - 1) * noise.tail(least, bits).ends()[1]


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
    if not _is_provable(parameters):
        raise ParameterError(
            "epsilon",
            "at least about m_O·δ, as the proof of CreateHeadList needs "
            f"(m_O is {parameters.records_per_optin_user}, δ is {parameters.delta})",
            parameters.epsilon,
        )


def _is_provable(parameters: Parameters) -> bool:
    """Tell whether 1/b ≥ -ln(1 - δ/(1+a)), the condition of step 4 of the proof."""
    scale = parameters.laplace_scale
    a = Fraction(exp_enclosure(-1 / scale, _BITS).low, 1 << _BITS)
    slack = -ln_enclosure(1 - exact(parameters.delta) / (1 + a), _BITS).low
    return 1 / scale >= Fraction(slack, 1 << _BITS)
