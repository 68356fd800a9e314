"""Coverage: the share of searches that a device could answer from a local cache."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import hypot
from statistics import NormalDist

from blender_dp.core.estimation.release import Release, ReleasedEstimate
from blender_dp.local_search.serving import Served, ServingRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of all searches with its interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Share of searches that are answered locally."""

    suggested: Share
    """Searches whose query is suggested."""
    answered: Share
    """Searches whose query is suggested with the page that was clicked."""
    confidence: float


def coverage(release: Release, rule: ServingRule, found: Served) -> Coverage:
    """Return the share of searches that ``found`` answers.

    It is the sum of the estimates before projection, which may be negative. A release has no
    covariances, so the error of the sum is bounded: records of one query count as perfectly
    correlated, different queries as uncorrelated. In fact, shares of one whole are negatively
    correlated. The low end is reduced by the bias of serving rows that the clients overstate by
    chance: for each
    row (1 - w)·σ_C·φ(z - z_C), the bias of keeping a normal estimate only if it passes a bound.
    """
    by_query = [found.records.get(row.query or "", []) for row in found.queries]
    records = [row for rows in release.listed_records().values() for row in rows]
    return Coverage(
        suggested=_share(
            release,
            [[row] for row in found.queries],
            _flattery(release.listed_queries(), rule, release),
        ),
        answered=_share(release, by_query, _flattery(records, rule, release)),
        confidence=release.confidence,
    )


def _share(
    release: Release, groups: Iterable[Iterable[ReleasedEstimate]], flattery: float
) -> Share:
    estimates = [[_unprojected(row) for row in group] for group in groups]
    total = sum(probability for group in estimates for probability, _ in group)
    std_error = hypot(*(sum(error for _, error in group) for group in estimates))
    reach = NormalDist().inv_cdf((1 + release.confidence) / 2) * std_error
    share, low, high = (
        min(max(value, 0.0), 1.0) for value in (total, total - reach - flattery, total + reach)
    )
    return Share(share=share, low=low, high=high)


def _unprojected(row: ReleasedEstimate) -> tuple[float, float]:
    if row.std_error is None and row.client_probability is not None:
        return row.client_probability, row.client_std_error or 0.0
    return row.raw_probability, row.std_error or 0.0


def _flattery(rows: Iterable[ReleasedEstimate], rule: ServingRule, release: Release) -> float:
    normal = NormalDist()
    return sum(
        (1 - min(max(row.opt_in_weight or 0.0, 0.0), 1.0))
        * (row.client_std_error or 0.0)
        * normal.pdf(rule.significance - max(rule.surplus(row, release), -1e6))
        for row in rows
    )
