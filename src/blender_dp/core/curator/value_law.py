"""Law of a released value D, in users and in floats: for estimates and rules, never for draws."""

from dataclasses import dataclass
from math import exp, expm1, sqrt
from statistics import NormalDist

from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.exact.lattice import UNIT

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueLaw:
    """Noise of a value, and the threshold of discovery, both in users."""

    unit: int
    """Released integers per user: 1 for counts, the lattice's unit for weights."""
    mean: float
    """Mean of the noise."""
    variance: float
    """Variance of the noise."""
    threshold: float
    """τ: a value, without the mean of its noise, above it is released."""
    slopes: tuple[float, float] | None
    """Slopes of the noise on either side in the laplace branch."""

    def passes(self, value: int) -> bool:
        """Tell whether a record with this value is listed without being known."""
        return self.users(value) > self.threshold

    def may_pass(self, value: int) -> bool:
        """Tell whether a known record stays: whether its interval reaches the threshold.

        The interval is D ± 1.96·√(Var + D), Var of the noise and D without its mean: a sum of
        weights of at most 1 varies by at most itself. It is a rule about released numbers, hence
        free.
        """
        users = self.users(value)
        return users + _Z * sqrt(self.variance + max(users, 0.0)) >= self.threshold

    def by_noise(self, value: int) -> float:
        """Return the probability that the noise alone is at least this value."""
        if self.slopes is None:
            return NormalDist().cdf(-self.users(value) / sqrt(self.variance))
        right, left = self.slopes
        if value > 0:
            return exp(-right * value) * expm1(-left) / expm1(-right - left)
        return 1 - exp(left * (value - 1)) * expm1(-right) / expm1(-right - left)

    def users(self, value: int) -> float:
        """Return a value in users, without the mean of its noise."""
        return value / self.unit - self.mean


def value_law(branch: Branch, budget: Budget) -> ValueLaw:
    """Return the law of the values that discovery releases."""
    if branch == "gauss":
        weights = weight_plan(budget)
        return ValueLaw(
            unit=UNIT,
            mean=0.0,
            variance=(weights.discovery_sigma / UNIT) ** 2,
            threshold=weights.threshold / UNIT,
            slopes=None,
        )
    counts = count_plan(budget)
    y = counts.noise
    return ValueLaw(
        unit=1,
        mean=y.mean,
        variance=y.variance,
        threshold=counts.threshold - 0.5 - y.mean,
        slopes=(float(y.right), float(y.left)),
    )
