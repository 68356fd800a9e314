"""Search trends of a release: a ranking with rank intervals, and changes since an earlier one."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import HasRelease, Release, ReleasedQuery, release_from
from blender_dp.search_trends.changes import FALSE_DISCOVERY_RATE, Change, changes
from blender_dp.search_trends.rank_intervals import rank_intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """A query and the ranks that it may truly have among all listed queries."""

    query: str
    probability: float
    low: float | None
    high: float | None
    rank: int | None
    """Rank by estimate; None if it has no interval (flaw F1)."""
    best_rank: int
    worst_rank: int
    group: int | None
    """Numbered from 1. Differences within a group are not significant; neighbouring groups may
    overlap, as the rank intervals show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trends:
    """A ranking and, with an earlier release, its changes."""

    private: bool
    """False if either release was made with a seed."""
    created: str
    earlier_created: str | None
    earlier_queries: int | None
    """How many queries the earlier release lists."""
    confidence: float
    """Confidence of each interval of a probability, and of all ranks together."""
    false_discovery_rate: float
    ranking: tuple[RankedQuery, ...]
    """By estimate; those without an interval last."""
    changes: tuple[Change, ...] | None
    """The surest first; None without an earlier release."""

    @property
    def without_interval(self) -> int:
        """Number of queries that could not be ranked."""
        return sum(row.rank is None for row in self.ranking)

    @property
    def untested(self) -> int:
        """Number of queries that could not be tested for change."""
        return sum(change.p_value is None for change in self.changes or ())

    def document(self) -> dict[str, Any]:
        """Return the trends as plain values for JSON."""
        return {
            **asdict(self),
            "without_interval": self.without_interval,
            "untested": self.untested,
        }


def trends(
    release: Release | HasRelease,
    earlier: Release | HasRelease | None = None,
    *,
    false_discovery_rate: float = FALSE_DISCOVERY_RATE,
) -> Trends:
    """Return the ranking of a release with rank intervals, and the changes since ``earlier``.

    Paper: search trend computation (section 1.1). Privacy: post-processing of releases.

    Args:
        release: The result of ``read_release`` or of ``run``.
        earlier: A release or result to compare with.
        false_discovery_rate: Largest share of wrong rises and falls, on average.
    """
    if not 0 < false_discovery_rate < 1:
        raise ParameterError(
            "false_discovery_rate", "between 0 and 1, both excluded", false_discovery_rate
        )
    release = release_from(release)
    found = None
    if earlier is not None:
        earlier = release_from(earlier, "earlier")
        found = tuple(changes(release, earlier, false_discovery_rate=false_discovery_rate))
    return Trends(
        private=release.private and (earlier is None or earlier.private),
        created=release.created,
        earlier_created=None if earlier is None else earlier.created,
        earlier_queries=None if earlier is None else len(earlier.listed_queries()),
        confidence=release.confidence,
        false_discovery_rate=false_discovery_rate,
        ranking=tuple(_ranking(release)),
        changes=found,
    )


def _ranking(release: Release) -> list[RankedQuery]:
    rows = release.listed_queries()
    sound = sorted(
        (row for row in rows if row.std_error is not None), key=lambda row: -row.raw_probability
    )
    spoilt = [row for row in rows if row.std_error is None]
    places = rank_intervals(
        np.array([row.raw_probability for row in sound]),
        np.array([row.std_error for row in sound], dtype=np.float64),
        level=1 - release.confidence,
    )
    ranked = zip(
        sound, places.best.tolist(), places.worst.tolist(), places.group.tolist(), strict=True
    )
    # A query that cannot be ranked may be above any other.
    return [
        _ranked(row, rank=rank, best=best, worst=worst + len(spoilt), group=group)
        for rank, (row, best, worst, group) in enumerate(ranked, start=1)
    ] + [_ranked(row, rank=None, best=1, worst=len(rows), group=None) for row in spoilt]


def _ranked(
    row: ReleasedQuery, *, rank: int | None, best: int, worst: int, group: int | None
) -> RankedQuery:
    return RankedQuery(
        query=row.query or "",
        probability=row.probability,
        low=row.low,
        high=row.high,
        rank=rank,
        best_rank=best,
        worst_rank=worst,
        group=group,
    )
