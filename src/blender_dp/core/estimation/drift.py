"""Chi-square test for drift between opt-in users and clients, on the totals of frequent queries.

Both groups are assumed to have the same p. If they differ, the blend estimates neither. The totals
are compared before any shrinking.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from blender_dp.core.estimation.chi_square import noncentrality, survival
from blender_dp.core.head_list.cells import FloatArray, IntArray

SIGNIFICANT = 0.01
"""p-value below which drift is significant: the opt-in users then count for less, by tau²."""
_WIDEST = 10
_GROUPS = ("opt-in users", "clients")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryTotals:
    """Each group's estimates of the queries well above the threshold, by query."""

    queries: IntArray
    """Positions of the queries on the list."""
    opt_in: FloatArray
    opt_in_variance: FloatArray
    clients: FloatArray
    client_variance: FloatArray
    probability: FloatArray
    """P_q by both groups together."""

    @property
    def difference(self) -> FloatArray:
        """Opt-in estimate minus client estimate."""
        return self.opt_in - self.clients

    @property
    def variance(self) -> FloatArray:
        """The variance of the difference if there is no drift."""
        return self.opt_in_variance + self.client_variance

    @property
    def statistic(self) -> float:
        """Q, chi-square with one degree of freedom per query if there is no drift."""
        return float((self.difference**2 / self.variance).sum())

    @property
    def p_value(self) -> float:
        """Probability that chance makes Q at least as large."""
        return survival(self.statistic, len(self.queries))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Result of the test for drift."""

    statistic: float
    """Q."""
    degrees: int
    """Number of queries that were compared."""
    p_value: float
    smallest_detectable: float
    """Relative difference of all compared queries that the test detects with power 0.8 at the 5 %
    level; infinite if none was compared."""
    between_group_variance: float
    """tau²: relative variance between the groups that is included in the estimates."""
    widest: tuple[tuple[int, float], ...]
    """Queries that differ most, as position and z-score (positive: larger estimate of the first
    group), largest first."""
    groups: tuple[str, str] = _GROUPS
    """Names of the two groups."""

    @property
    def is_significant(self) -> bool:
        """Whether the groups differ by more than chance; tau² > 0 if estimates include it."""
        return self.p_value < SIGNIFICANT

    @property
    def sentence(self) -> str:
        """Return the result as a sentence."""
        if not self.degrees:
            return "No query was frequent enough to compare the two groups."
        both = " and ".join(self.groups)
        queries = "query was" if self.degrees == 1 else "queries were"
        compared = f"{self.degrees} frequent {queries} compared (p = {self.p_value:.2g})"
        if self.is_significant:
            allowance = (
                "The opt-in users count for less and the intervals are wider for it."
                if self.between_group_variance > 0
                else "The estimates and intervals do not allow for it."
            )
            return f"{both[0].upper()}{both[1:]} differ: {compared}. {allowance}"
        return (
            f"No difference between {both} was found: {compared}. This test "
            f"detects differences of about {self.smallest_detectable:.0%} or more (80% power)."
        )


def compare_groups(
    totals: QueryTotals,
    *,
    between_group_variance: float = 0.0,
    groups: tuple[str, str] = _GROUPS,
) -> Drift:
    """Compare the two groups."""
    z = totals.difference / np.sqrt(totals.variance)
    widest = np.argsort(-np.abs(z), kind="stable")[:_WIDEST]
    return Drift(
        statistic=totals.statistic,
        degrees=len(totals.queries),
        p_value=totals.p_value,
        smallest_detectable=_smallest_detectable(totals),
        between_group_variance=between_group_variance,
        widest=tuple((int(totals.queries[i]), float(z[i])) for i in widest),
        groups=groups,
    )


def _smallest_detectable(totals: QueryTotals) -> float:
    """Return the t for which a difference of ±t·P_q in every query has power 0.8 at level 5 %.

    Q is then noncentral chi-square with noncentrality Σ t²P_q²/v_q.
    """
    if not len(totals.queries):
        return inf
    needed = noncentrality(len(totals.queries), level=0.05, power=0.8)
    return sqrt(needed / float((totals.probability**2 / totals.variance).sum()))


def between_group_variance(totals: QueryTotals) -> float:
    """Return tau² with E(x_O - x_C)² = v + tau²·P², by moments; 0 unless drift is significant.

    The moments are weighted by P²/v², after DerSimonian and Laird, "Meta-analysis in clinical
    trials" (1986).
    """
    if totals.p_value > SIGNIFICANT:
        return 0.0
    weight = (totals.probability / totals.variance) ** 2
    excess = (weight * (totals.difference**2 - totals.variance)).sum()
    return max(0.0, float(excess / (weight * totals.probability**2).sum()))
