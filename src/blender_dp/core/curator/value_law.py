"""Law of a released value D, in users and in floats: for estimates and rules, never for draws."""

from dataclasses import dataclass

from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.exact.lattice import UNIT


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
