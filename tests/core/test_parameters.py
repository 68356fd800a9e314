"""Every setting outside the range its guarantee was proved for is refused, with a sentence."""

import math
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.parameters import Parameters, delta_warning, exact

GOOD: Mapping[str, Any] = {"epsilon": 4.0, "delta": 1e-5}

NOT_POSITIVE = [0.0, -0.0, -1.0, -math.inf, math.nan]
NOT_A_SHARE = [*NOT_POSITIVE, 1.0, 1.5, math.inf]
NOT_A_NUMBER_OF_THINGS = [0, -1, math.nan]


@pytest.mark.parametrize("epsilon", [*NOT_POSITIVE, math.inf])
def test_an_epsilon_outside_its_range_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError) as refusal:
        Parameters(epsilon=epsilon, delta=1e-5)
    assert str(refusal.value) == f"epsilon must be a finite number above 0; got {epsilon!r}"
    assert refusal.value.name == "epsilon"


@pytest.mark.parametrize("delta", NOT_A_SHARE)
def test_a_delta_outside_its_range_is_refused(delta: float) -> None:
    with pytest.raises(ParameterError) as refusal:
        Parameters(epsilon=1.0, delta=delta)
    assert str(refusal.value) == (
        "delta must be strictly between 0 and 1 "
        f"(with 0 no record could ever enter the head list); got {delta!r}"
    )


@pytest.mark.parametrize("name", ["head_list_user_fraction", "query_budget_fraction"])
@pytest.mark.parametrize("share", NOT_A_SHARE)
def test_a_share_outside_its_range_is_refused(name: str, share: float) -> None:
    with pytest.raises(ParameterError) as refusal:
        Parameters(**{**GOOD, name: share})
    assert str(refusal.value) == f"{name} must be strictly between 0 and 1; got {share!r}"
    assert refusal.value.name == name


@pytest.mark.parametrize("name", ["head_list_size", "records_per_optin_user", "records_per_client"])
@pytest.mark.parametrize("number", NOT_A_NUMBER_OF_THINGS)
def test_a_number_of_things_below_one_is_refused(name: str, number: float) -> None:
    with pytest.raises(ParameterError) as refusal:
        Parameters(**{**GOOD, name: number})
    assert str(refusal.value) == f"{name} must be a whole number, at least 1; got {number!r}"
    assert refusal.value.name == name


@pytest.mark.parametrize("name", ["records_per_optin_user", "records_per_client", "head_list_size"])
@pytest.mark.parametrize("number", [1.5, math.inf])
def test_what_is_no_whole_number_of_things_is_refused(name: str, number: float) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be"):
        Parameters(**{**GOOD, name: number})


@pytest.mark.parametrize("epsilon", [5e-324, 1e-6, 700.0, 1e300])
@pytest.mark.parametrize("delta", [5e-324, 1e-5, 1 - 1e-16])
def test_everything_inside_the_range_is_accepted(epsilon: float, delta: float) -> None:
    parameters = Parameters(epsilon=epsilon, delta=delta)
    assert (parameters.epsilon, parameters.delta) == (epsilon, delta)


def test_the_defaults_are_those_of_the_papers_table() -> None:
    """Fig. 11 (``table:parameters``): m_O = m_C = 1, f_O = 0.95, f_C = 0.85."""
    assert Parameters(epsilon=4.0, delta=1e-5).document() == {
        "epsilon": 4.0,
        "delta": 1e-5,
        "head_list_size": None,
        "preset": "sharp",
        "one_record_each": False,
        "head_list_user_fraction": 0.95,
        "query_budget_fraction": 0.85,
        "records_per_optin_user": 1,
        "records_per_client": 1,
        "project": True,
    }


@pytest.mark.parametrize("share", [0, 0.009, 0.91, math.nan, "0.1", True])
def test_a_share_that_leaves_nothing_for_a_release_is_refused(share: object) -> None:
    with pytest.raises(ParameterError, match=r"estimation_share must be from 0.01 to 0.9"):
        Parameters(**{**GOOD, "estimation_share": share})


@pytest.mark.parametrize(
    ("preset", "knob", "value"),
    [
        *[("sharp", name, 0.5) for name in ("head_list_user_fraction", "query_budget_fraction")],
        *[("sharp", name, 2) for name in ("records_per_optin_user", "records_per_client")],
        ("sharp", "project", False),
        ("paper", "one_record_each", True),
        ("paper", "list_of", "queries"),
        ("paper", "estimation_share", 0.05),
    ],
)
def test_a_knob_of_the_other_preset_is_refused(preset: str, knob: str, value: float) -> None:
    owner = {"sharp": "paper", "paper": "sharp"}[preset]
    Parameters(**{**GOOD, "preset": owner, knob: value})
    with pytest.raises(ParameterError, match=f"{knob} must be left out, unless .* is {owner}"):
        Parameters(**{**GOOD, "preset": preset, knob: value})


def test_the_parameters_cannot_be_changed_after_they_were_checked() -> None:
    parameters = Parameters(epsilon=4.0, delta=1e-5)
    with pytest.raises(FrozenInstanceError):
        parameters.epsilon = -1.0  # type: ignore[misc]  # the very thing that must fail


def test_the_error_is_both_ours_and_a_value_error() -> None:
    assert issubclass(ParameterError, BlenderError)
    assert issubclass(ParameterError, ValueError)


@pytest.mark.parametrize(
    ("epsilon", "m_o", "scale"),
    [(4.0, 1, Fraction(1, 2)), (0.1, 1, Fraction(20)), (0.3, 3, Fraction(20)), (700.0, 1, None)],
)
def test_the_laplace_scale_is_two_m_over_epsilon_exactly(
    epsilon: float, m_o: int, scale: Fraction | None
) -> None:
    parameters = Parameters(epsilon=epsilon, delta=1e-5, records_per_optin_user=m_o, preset="paper")
    assert parameters.laplace_scale == (Fraction(1, 350) if scale is None else scale)


def test_a_number_is_taken_as_it_was_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1e-5) == Fraction(1, 100_000)
    assert exact(1e300) == 10**300
    assert exact(4) == 4


@given(numerator=st.integers(-(10**9), 10**9), places=st.integers(0, 6))
def test_every_short_decimal_is_taken_as_it_was_written(numerator: int, places: int) -> None:
    written = Fraction(numerator, 10**places)
    assert exact(float(written)) == written


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_taken_exactly_still_is_the_same_double(number: float) -> None:
    assert float(exact(number)) == number


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", math.nan),
        ("delta", 0.0),
        ("query_budget_fraction", 1.0),
        ("records_per_client", 0),
    ],
)
def test_a_published_mechanism_obeys_the_same_rules(name: str, value: float) -> None:
    good = {"epsilon": 4.0, "delta": 1e-5, "query_budget_fraction": 0.85, "records_per_client": 1}
    with pytest.raises(ParameterError, match=f"{name} must be"):
        LocalAlgMechanism(**{**good, name: value})  # type: ignore[arg-type]  # bad on purpose


def test_a_device_is_told_its_part_of_the_parameters() -> None:
    parameters = Parameters(
        epsilon=2.0,
        delta=1e-6,
        query_budget_fraction=0.5,
        records_per_client=3,
        preset="paper",
    )
    assert LocalAlgMechanism.of(parameters) == LocalAlgMechanism(
        epsilon=2.0, delta=1e-6, query_budget_fraction=0.5, records_per_client=3
    )


@pytest.mark.parametrize(
    ("delta", "users", "is_warned"),
    [(1e-6, 100_000, False), (1.01e-6, 100_000, True), (1e-5, 100_000, True), (1e-5, 0, False)],
)
def test_a_delta_above_a_tenth_of_one_over_the_users_is_warned_of(
    delta: float, users: int, is_warned: bool
) -> None:
    warning = delta_warning(delta, users)
    assert (warning is not None) == is_warned
    assert warning is None or "choose at most 1/(10·users) = 1e-06" in warning
