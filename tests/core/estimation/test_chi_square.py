"""The chi-square tail and the power of its test, against SciPy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, ncx2

from blender_dp.core.estimation.chi_square import noncentrality, survival


@given(degrees=st.integers(1, 3000), relative=st.floats(0.001, 4))
def test_the_tail_is_that_of_scipy(degrees: int, relative: float) -> None:
    statistic = relative * degrees
    assert survival(statistic, degrees) == pytest.approx(
        float(chi2.sf(statistic, degrees)), rel=1e-9, abs=1e-290
    )


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 151])
@pytest.mark.parametrize("tail", [1e-200, 1e-9, 0.01, 0.5, 1 - 1e-9])
def test_far_tails_keep_their_digits(degrees: int, tail: float) -> None:
    statistic = float(chi2.isf(tail, degrees))
    assert survival(statistic, degrees) == pytest.approx(tail, rel=1e-10)


def test_nothing_compared_is_no_surprise() -> None:
    assert survival(0.0, 0) == 1
    assert survival(0.0, 5) == 1
    assert survival(1e6, 5) == 0


@pytest.mark.parametrize("degrees", [1, 2, 7, 50, 3000])
@pytest.mark.parametrize(("level", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_the_shift_that_is_found_with_the_stated_power(
    degrees: int, level: float, power: float
) -> None:
    shift = noncentrality(degrees, level=level, power=power)
    critical = chi2.isf(level, degrees)
    assert ncx2.sf(critical, degrees, shift) == pytest.approx(power, abs=1e-9)


def test_one_degree_by_hand() -> None:
    """Two-sided normal test: z of 5 % plus z of 80 %, (1.95996 + 0.84162)², the far side aside."""
    assert noncentrality(1) == pytest.approx((1.959964 + 0.841621) ** 2, rel=1e-5)
