"""The threshold of CreateHeadList: as printed, in exact arithmetic, and where the proof ends."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.create_head_list.paper import (
    count_threshold,
    least_passing_count,
    require_provable,
)
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters

epsilons = st.floats(0.01, 50)
deltas = st.floats(1e-15, 0.5)
records = st.integers(1, 5)


def with_promise(epsilon: float, delta: float, m_o: int = 1) -> Parameters:
    return Parameters(preset="paper", epsilon=epsilon, delta=delta, records_per_optin_user=m_o)


@given(epsilon=epsilons, delta=deltas, m_o=records)
def test_the_threshold_is_the_printed_one(epsilon: float, delta: float, m_o: int) -> None:
    """Fig. 3 lines 6 and 7, in floats."""
    b_s = 2 * m_o / epsilon
    printed = max(b_s * (math.log(math.exp(epsilon / 2) + m_o - 1) - math.log(delta)), 1)
    tau = count_threshold(with_promise(epsilon, delta, m_o))
    assert float(tau) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "delta", "tau"),
    [(1, 1e-5, 24.0), (2, 1e-5, 12.5), (3.6, 1e-5, 7.4), (4, 1e-5, 6.8), (4, 1e-7, 9.1)],
)
def test_the_threshold_of_the_papers_parameters_by_hand(
    epsilon: float, delta: float, tau: float
) -> None:
    """τ = 1 + (2/ε)·ln(1/δ) for one record per user, worked out to one decimal."""
    assert float(count_threshold(with_promise(epsilon, delta))) == pytest.approx(tau, abs=0.051)


@given(epsilon=epsilons, delta=deltas, m_o=records)
def test_the_least_passing_count_is_the_first_above_the_threshold(
    epsilon: float, delta: float, m_o: int
) -> None:
    parameters = with_promise(epsilon, delta, m_o)
    tau, least = count_threshold(parameters), least_passing_count(parameters)
    assert least - 1 <= tau < least


@given(epsilon=epsilons, delta=deltas, m_o=records)
def test_a_user_alone_with_a_record_is_hidden(epsilon: float, delta: float, m_o: int) -> None:
    """A user's own m_O counts never pass without noise, and τ ≥ 1 as the theorem asks."""
    parameters = with_promise(epsilon, delta, m_o)
    assert count_threshold(parameters) >= 1
    assert least_passing_count(parameters) > m_o


@pytest.mark.parametrize(
    ("epsilon", "least"), [(1e-6, 41_446_533), (700.0, 2), (1e6, 2), (1e300, 2)]
)
def test_an_extreme_epsilon_has_a_threshold(epsilon: float, least: int) -> None:
    """τ = 1 + (2/ε)·ln(1/δ) for one record per user: ln(10⁹) = 20.72326584 at ε = 10⁻⁶."""
    assert least_passing_count(with_promise(epsilon, 1e-9)) == least


@pytest.mark.parametrize("m_o", [1, 2, 5])
@pytest.mark.parametrize("delta", [1e-3, 0.1, 0.5])
def test_what_the_proof_does_not_cover_is_refused(m_o: int, delta: float) -> None:
    """1/b ≥ -ln(1 - δ/(1+a)) with a = e^(-1/b), in floats; the boundary is searched for."""

    def slack(epsilon: float) -> float:
        a = math.exp(-epsilon / (2 * m_o))
        return epsilon / (2 * m_o) + math.log1p(-delta / (1 + a))

    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if slack(middle) > 0 else (middle, high)
    assert high == pytest.approx(m_o * delta, rel=0.5)  # "about m_O·δ"
    require_provable(with_promise(high * (1 + 1e-9), delta, m_o))
    with pytest.raises(ParameterError, match="epsilon must be at least about m_O·δ") as refusal:
        require_provable(with_promise(high * (1 - 1e-9), delta, m_o))
    assert refusal.value.name == "epsilon"
    assert f"(m_O is {m_o}, δ is {delta})" in str(refusal.value)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, math.log(2), 1.0])
@pytest.mark.parametrize("m_o", [1, 2, 3])
def test_the_papers_conditions_are_not_imposed(epsilon: float, m_o: int) -> None:
    """ε ≤ ln 2 and m_O > 1 are covered by the proof beside the code (reading R9)."""
    require_provable(with_promise(epsilon, 1e-5, m_o))


def test_the_threshold_rounds_towards_privacy() -> None:
    """With δ = 10⁻⁵ and ε = 4: τ = 1 + ln(10⁵)/2, from its digits; never below the true value."""
    tau = count_threshold(with_promise(4.0, 1e-5))
    digits = Fraction("6.756462732485114210044978636711")
    assert -Fraction(1, 10**30) < tau - digits < Fraction(1, 10**29)


def test_noise_too_wide_for_a_count_is_refused() -> None:
    require_provable(Parameters(preset="paper", epsilon=2.0**-39, delta=1e-30))
    with pytest.raises(ParameterError, match="epsilon must be at least 2·m_O/2\\^40"):
        require_provable(Parameters(preset="paper", epsilon=2.0**-40, delta=1e-30))
