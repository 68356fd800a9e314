"""Changes between two releases: queries that rose or fell significantly.

Both are estimates with independent noise. If both come from the same people, a difference varies
less than is assumed here: fewer changes are found, not more false ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import hypot, inf, isinf
from typing import Literal

import numpy as np

from blender_dp.core.estimation.release import Release, ReleasedQuery, ReleasedRecord
from blender_dp.core.estimation.unlisted_bound import MISSED
from blender_dp.search_trends.multiple_testing import (
    benjamini_hochberg,
    critical_value,
    upper_tail,
)

FALSE_DISCOVERY_RATE = 0.05
"""Default share of the verdicts that may be wrong on average."""
Listing = Literal[
    "listed in both",
    "new on the list",
    "left the list",
    "below the other list",
    "the other list is empty",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One query then and now."""

    query: str
    listing: Listing
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    """Lower end of the interval of the difference, for this query alone."""
    high: float | None
    p_value: float | None
    """None if nothing can be tested: an estimate has no interval, or absence proves nothing."""
    verdict: Literal["rose", "fell"] | None
    """Set if the change is significant, corrected for the number of tests."""


def changes(release: Release, earlier: Release, *, false_discovery_rate: float) -> list[Change]:
    """Return every query of either release, the surest change first.

    On average at most a share ``false_discovery_rate`` of the verdicts is wrong.

    Args:
        release: The current release.
        earlier: The earlier release.
        false_discovery_rate: See above.
    """
    now = {row.query or "": row for row in release.listed_queries()}
    then = {row.query or "": row for row in earlier.listed_queries()}
    reach = critical_value((1 - release.confidence) / 2)
    found = [_in_both(then[query], row, reach) for query, row in now.items() if query in then]
    rate = false_discovery_rate
    found += [_seen_once(*one, "new on the list", rate) for one in _apart(release, earlier)]
    found += [_seen_once(*one, "left the list", rate) for one in _apart(earlier, release)]
    return sorted(_judged(found, false_discovery_rate), key=_surest_first)


def _in_both(then: ReleasedQuery, now: ReleasedQuery, reach: float) -> Change:
    listing: Listing = "listed in both"
    if then.std_error is None or now.std_error is None:
        return _untested(now.query or "", listing, then.probability, now.probability)
    difference = now.raw_probability - then.raw_probability
    error = hypot(then.std_error, now.std_error)
    return Change(
        query=now.query or "",
        listing=listing,
        before=then.probability,
        after=now.probability,
        difference=difference,
        low=difference - reach * error,
        high=difference + reach * error,
        p_value=min(1.0, 2 * upper_tail(abs(difference) / error)) if error else None,
        verdict=None,
    )


def _apart(here: Release, other: Release) -> Iterator[tuple[ReleasedQuery, float | None, float]]:
    """Return each query that ``here`` lists and ``other`` does not.

    With it come the test against its absence, and the least share that ``other`` lists.
    """
    elsewhere = {row.query: row.probability for row in other.listed_queries()}
    records, least = here.listed_records(), min(elsewhere.values(), default=inf)
    for row in here.listed_queries():
        if row.query not in elsewhere:
            p_value = _against_absence(records.get(row.query or "", []), other.unlisted_bound)
            yield row, p_value, least


def _seen_once(
    row: ReleasedQuery, p_value: float | None, least: float, listing: Listing, rate: float
) -> Change:
    """Return a query of one list; one that the other list is too short for is neither new nor left.

    It is rarer than all that the other list has, and its absence there is no evidence. An empty
    list says nothing about any query.
    """
    before, after = (
        (None, row.probability) if listing == "new on the list" else (row.probability, None)
    )
    is_evidence = p_value is not None and p_value < rate
    if row.probability <= least and not is_evidence:
        listing = "the other list is empty" if isinf(least) else "below the other list"
    return _untested(row.query or "", listing, before, after, p_value)


def _against_absence(records: list[ReleasedRecord], bound: float | None) -> float | None:
    """Test whether some record of a query is more probable than an unlisted one can be.

    The other list has none of its records. A record as probable as its bound is missing there with
    probability at most ``MISSED``. So an estimate above the bound is a difference, up to that
    probability and its own error. Each record of the query is one attempt.
    """
    tails = [
        upper_tail((record.raw_probability - bound) / record.std_error)
        for record in records
        if bound is not None and record.std_error
    ]
    return min(1.0, len(tails) * (min(tails) + MISSED)) if tails else None


def _untested(
    query: str,
    listing: Listing,
    before: float | None,
    after: float | None,
    p_value: float | None = None,
) -> Change:
    return Change(
        query=query,
        listing=listing,
        before=before,
        after=after,
        difference=None,
        low=None,
        high=None,
        p_value=p_value,
        verdict=None,
    )


def _judged(found: list[Change], rate: float) -> list[Change]:
    tested = [change for change in found if change.p_value is not None]
    p_values = np.array([change.p_value for change in tested], dtype=np.float64)
    passed = dict(zip(map(id, tested), benjamini_hochberg(p_values, rate), strict=True))
    return [replace(c, verdict=_direction(c)) if passed.get(id(c)) else c for c in found]


def _direction(change: Change) -> Literal["rose", "fell"]:
    if change.difference is not None:
        return "rose" if change.difference > 0 else "fell"
    return "rose" if change.before is None else "fell"


def _surest_first(change: Change) -> tuple[int, float, float]:
    size = max(change.before or 0.0, change.after or 0.0)
    if change.p_value is None:
        return 2, 0.0, -size
    return int(change.verdict is None), change.p_value, -size
