"""The law of two slopes: its tail, its moments, and its identities, all without sampling."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace, variance
from blender_dp.core.exact.enclosure import Enclosure

DIGITS = 120
SLACK = Fraction(1, 10 ** (DIGITS - 20))
"""What the 120 digits of the reference leave open: nothing near the 2^-160 of the enclosures."""
NOISES = [
    AsymmetricLaplace(right=Fraction(7, 4), left=Fraction(2, 7)),
    AsymmetricLaplace(right=Fraction(1, 3), left=Fraction(5, 2)),
    AsymmetricLaplace(right=Fraction(16587, 10**6), left=Fraction(3413, 10**6)),
    AsymmetricLaplace(right=Fraction(11), left=Fraction(1)),
    AsymmetricLaplace(right=Fraction(1, 10**7), left=Fraction(1, 10**9)),
    AsymmetricLaplace(right=Fraction(300), left=Fraction(400)),
]

slopes = st.fractions(Fraction(1, 1000), 50, max_denominator=10**6)
noises = st.builds(AsymmetricLaplace, right=slopes, left=slopes)


def weight(noise: AsymmetricLaplace, y: int) -> Decimal:
    """e^(-sR·y) or e^(sL·y): the law but for the constant that makes it one."""
    slope = noise.right if y >= 0 else noise.left
    return (-Decimal(slope.numerator) * abs(y) / Decimal(slope.denominator)).exp()


def pmf(noise: AsymmetricLaplace, y: int) -> Fraction:
    """Z·weight with Z = 1/(1/(1-A) + B/(1-B)), from the definition."""
    with localcontext() as context:
        context.prec = DIGITS
        a, b = weight(noise, 1), weight(noise, -1)
        return Fraction(weight(noise, y) / (1 / (1 - a) + b / (1 - b)))


def ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    one = 1 << enclosure.bits
    return Fraction(enclosure.low, one), Fraction(enclosure.high, one)


@given(noise=noises, y=st.integers(-300, 300), bits=st.integers(32, 200))
def test_neighbouring_tails_differ_by_the_stated_probability(
    noise: AsymmetricLaplace, y: int, bits: int
) -> None:
    (low, high), (next_low, next_high) = ends(noise.tail(y, bits)), ends(noise.tail(y + 1, bits))
    assert low - next_high - SLACK <= pmf(noise, y) <= high - next_low + SLACK


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_the_probabilities_add_up_to_the_tail(noise: AsymmetricLaplace) -> None:
    """Pr[Y ≥ y] - Pr[Y ≥ 40] is the sum of what lies between, on both sides of zero."""
    last_low, last_high = ends(noise.tail(40, 160))
    total = Fraction(0)
    for y in range(39, -41, -1):
        total += pmf(noise, y)
        low, high = ends(noise.tail(y, 160))
        assert low - last_high - SLACK <= total <= high - last_low + SLACK


@pytest.mark.parametrize("noise", NOISES[:4], ids=str)
def test_the_whole_law_adds_up_to_one(noise: AsymmetricLaplace) -> None:
    """From where less than e^-100 is left on either side."""
    first, last = -round(100 / noise.left) - 1, round(100 / noise.right) + 1
    assert 1 - Fraction(1, 10**30) < ends(noise.tail(first, 160))[0]
    assert ends(noise.tail(last, 160))[1] < Fraction(1, 10**30)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("y", [-(10**6), -1, 0, 1, 2, 10**6])
def test_a_tail_is_a_probability_and_as_narrow_as_asked(noise: AsymmetricLaplace, y: int) -> None:
    low, high = ends(noise.tail(y, 128))
    assert 0 <= low <= high <= 1
    assert high - low <= Fraction(1, 1 << 128)


@given(slope=slopes, y=st.integers(-200, 200))
def test_equal_slopes_are_the_discrete_laplace_law(slope: Fraction, y: int) -> None:
    ours = ends(AsymmetricLaplace(right=slope, left=slope).tail(y, 128))
    known = ends(DiscreteLaplace(1 / slope).tail(y, 128))
    assert max(ours[0], known[0]) <= min(ours[1], known[1])
    assert variance(1 / slope) == pytest.approx(
        AsymmetricLaplace(right=slope, left=slope).variance, rel=1e-12, abs=0
    )


@given(noise=noises, y=st.integers(-200, 200))
def test_exchanging_the_slopes_mirrors_the_law(noise: AsymmetricLaplace, y: int) -> None:
    """Pr[Y ≥ y] = Pr[-Y < 1-y] for the law and its mirror image."""
    mirrored = AsymmetricLaplace(right=noise.left, left=noise.right)
    (low, high), (far_low, far_high) = ends(noise.tail(y, 128)), ends(mirrored.tail(1 - y, 128))
    assert low + far_low <= 1 <= high + far_high
    assert mirrored.mean == pytest.approx(-noise.mean, rel=1e-12)
    assert mirrored.variance == pytest.approx(noise.variance, rel=1e-12)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_mean_and_variance_are_those_of_the_law(noise: AsymmetricLaplace) -> None:
    """E[Y] and E[Y²] from the definition, by the sums of g·a^g and g²·a^g, in 120 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        a, b = weight(noise, 1), weight(noise, -1)
        z = 1 / (1 / (1 - a) + b / (1 - b))
        mean = z * (a / (1 - a) ** 2 - b / (1 - b) ** 2)
        square = z * (a * (1 + a) / (1 - a) ** 3 + b * (1 + b) / (1 - b) ** 3)
        assert noise.mean == pytest.approx(float(mean), rel=1e-12, abs=0)
        assert noise.variance == pytest.approx(float(square - mean**2), rel=1e-12, abs=0)


@given(
    noise=st.builds(
        AsymmetricLaplace,
        right=st.fractions(Fraction(1, 2), 5, max_denominator=100),
        left=st.fractions(Fraction(1, 2), 5, max_denominator=100),
    )
)
def test_mean_and_variance_are_sums_over_the_law(noise: AsymmetricLaplace) -> None:
    weights = {y: exp(-y * noise.right if y >= 0 else y * noise.left) for y in range(-90, 91)}
    law = {y: weight / sum(weights.values()) for y, weight in weights.items()}
    mean = sum(y * p for y, p in law.items())
    assert noise.mean == pytest.approx(mean, rel=1e-9, abs=1e-12)
    spread = sum((y - mean) ** 2 * p for y, p in law.items())
    assert noise.variance == pytest.approx(spread, rel=1e-9)


def test_a_mean_near_zero_does_not_cancel() -> None:
    """Slopes 1 and 1 + 1e-12: the mean is 1e-12·e/(e-1)², to first order."""
    noise = AsymmetricLaplace(right=Fraction(1), left=1 + Fraction(1, 10**12))
    assert noise.mean == pytest.approx(1e-12 * 0.920673594207792, rel=1e-9)


@pytest.mark.parametrize("slope", [Fraction(10**6), Fraction(10) ** 300])
def test_slopes_too_steep_for_noise_leave_none(slope: Fraction) -> None:
    noise = AsymmetricLaplace(right=slope, left=2 * slope)
    assert (noise.mean, noise.variance) == (0, 0)
    assert noise.tail(1, 96).low == 0
    low, high = ends(noise.tail(0, 96))
    assert 1 - Fraction(1, 1 << 150) < low < high == 1
