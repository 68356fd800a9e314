"""Was a single record pushed? Every record and query of one group held against the other.

Fake reports lift what they name, colluding opt-in accounts what they submit; either way the two
groups, which estimate every cell independently, disagree there. The test of drift adds up many
frequent queries and overlooks one record. Here the widest disagreement of all counts.

The noise of opt-in sums falls off like e^(-|y|/b), not like a normal law: at the far end where one
comparison of hundreds decides, a normal tail would be wrong by orders of magnitude. So every tail
is bounded by Chernoff's inequality with the law of the noise itself, and the bounds are
multiplied by the number of comparisons. Both steps err towards silence.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from blender_dp.core.cells import FloatArray, IntArray

ALARM = 0.001
"""How often chance alone raises the alarm, at most."""
_SLOPES = np.linspace(0.02, 1.0, 50)
"""Where Chernoff's bound is tried, in parts of the best slope for normal noise; any is sound."""
_WIDEST = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """What opt-in users say less what clients say of many items, in users; variances without drift.

    Arrays are by item.
    """

    items: IntArray
    """Their positions: cells, then queries."""
    difference: FloatArray
    sample_variance: FloatArray
    """Of the opt-in users as a sample, each of whom has at most one unit of an item."""
    client_variance: FloatArray
    """Of what clients say, which is close to normal."""
    noise_variance: FloatArray
    """Of the noise on the opt-in sum."""
    noise_draws: FloatArray
    """How many draws of Laplace noise that is; 0 for Gaussian noise."""

    @property
    def z(self) -> FloatArray:
        """The differences in standard errors."""
        z: FloatArray = self.difference / np.sqrt(self._variance)
        return z

    @property
    def _variance(self) -> FloatArray:
        return self.sample_variance + self.client_variance + self.noise_variance

    def tail_bounds(self) -> FloatArray:
        """Return for every item a bound on how often chance makes the difference as large.

        2·exp(ln M(θ) - θ·t) for the best θ that is tried, M being the moment generating function:
        of the sample by Bennett's inequality (1962), of Laplace noise 1/(1 - b²θ²) a draw.
        """
        t, variance = np.abs(self.difference), self._variance
        has_laplace = self.noise_draws > 0
        b2 = np.where(has_laplace, self.noise_variance / np.maximum(2 * self.noise_draws, 1), 0.0)
        steepest = np.where(has_laplace, 0.999 / np.sqrt(np.maximum(b2, 1e-300)), inf)
        exponent = np.zeros_like(t)
        for slope in _SLOPES:
            theta = slope * np.minimum(t / variance, steepest)
            normal = self.client_variance + np.where(has_laplace, 0.0, self.noise_variance)
            grown = (
                normal * theta**2 / 2
                + self.sample_variance * (np.expm1(theta) - theta)
                - self.noise_draws * np.log1p(-b2 * theta**2)
            )
            exponent = np.minimum(exponent, grown - theta * t)
        bounds: FloatArray = np.minimum(2 * np.exp(exponent), 1.0)
        return bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The verdict on one result."""

    comparisons: int
    p_value: float
    """How often chance makes the widest of all differences as unlikely, at most."""
    widest: tuple[tuple[int, float], ...]
    """The items that differ beyond chance, as position and z-score (positive: the opt-in users say
    more), least likely first; none without an alarm."""

    @property
    def is_alarming(self) -> bool:
        """Whether chance can be ruled out."""
        return self.p_value < ALARM

    @property
    def sentence(self) -> str:
        """Say what was found, for a person."""
        if not self.is_alarming:
            return (
                f"No single record or query of {self.comparisons:,} compared sets the groups apart."
            )
        found = len(self.widest)
        many = f"{found} records or queries" if found > 1 else "One record or query"
        return (
            f"{many} of {self.comparisons:,} compared differ between opt-in users and clients by "
            f"more than chance (p = {self.p_value:.1g}): fake reports or colluding accounts may "
            "have pushed them, or the groups differ there. Do not rely on them."
        )


def find_disagreement(comparisons: Comparisons) -> Disagreement:
    """Return the widest disagreement of all; post-processing."""
    items, z = comparisons.items, comparisons.z
    p_values = np.minimum(comparisons.tail_bounds() * len(items), 1.0)
    order = np.argsort(p_values, kind="stable")[:_WIDEST].tolist()
    return Disagreement(
        comparisons=len(items),
        p_value=float(p_values.min(initial=1.0)),
        widest=tuple((int(items[i]), float(z[i])) for i in order if p_values[i] < ALARM),
    )
