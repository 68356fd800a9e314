"""Tail: records too rare to be on a list, whose popularities continue those of the list."""

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.head_list.cells import FloatArray
from blender_dp.planning.missed_records import QueryRecords

_FEW = 3
"""With fewer queries than this, the popularities of records show how the tail falls."""
_EXPONENTS = (0.3, 2.5)
_MOST_QUERIES = 4_000_000
_MOST_LISTED = 100_000
"""Most queries of a tail among which listed ones are looked for."""
_MOST_URLS = 200
_MOST_REST, _MOST_RESTS = 20_000, 400_000
"""Most records into which one rest, and all rests together, are spread."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tail:
    """Queries after the known ones; each has URLs with the same shares."""

    top: float
    """Probability of its most popular query."""
    rank: float
    """Number of queries before it."""
    exponent: float
    url_shares: FloatArray

    @classmethod
    def of(cls, known: QueryRecords, listed: FloatArray, bound: float) -> "Tail":
        """Continue the known queries.

        Args:
            known: The listed queries and their records.
            listed: Probability that each of them is listed.
            bound: Probability of the most popular record of the tail.
        """
        shares = _url_shares(known, listed)
        numbers = 1 / listed
        return cls(
            top=bound / float(shares[0]),
            rank=max(float(numbers.sum()), 1.0),
            exponent=exponent_of(known, numbers),
            url_shares=shares,
        )

    def probabilities(self, mass: float) -> FloatArray:
        """Return the probabilities of its queries; they sum to ``mass``.

        They are as many as are needed. If the power is so steep that no number is enough, the rest
        of the mass is spread evenly.
        """
        return falling(self.top, self.rank, self.exponent, max(mass, 1e-9), _MOST_QUERIES)

    def listing(self, queries: int, rule: ListingRule) -> "Tail":
        """Return a tail that falls so fast that this number of its queries is listed."""
        slow, fast = _EXPONENTS[0] / 10, 10.0
        place = np.arange(1.0, _MOST_LISTED + 1)
        for _ in range(30):
            middle = (slow + fast) / 2
            p = self.top * ((self.rank + place) / self.rank) ** -middle
            slow, fast = (middle, fast) if self.listed(p, rule) > queries else (slow, middle)
        return replace(self, exponent=fast)

    def listed(self, probabilities: FloatArray, rule: ListingRule) -> float:
        """Return how many of its queries are expected to be listed."""
        grid = np.geomspace(1e-12, 1.0, 400)
        unlisted = np.log1p(-np.minimum(rule.listed(grid[:, None] * self.url_shares), 1 - 1e-12))
        of_grid = -np.expm1(unlisted.sum(axis=1))
        return float(np.interp(probabilities, grid, of_grid).sum())


def exponent_of(known: QueryRecords, numbers: FloatArray) -> float:
    """Return the power of the rank by which popularities fall.

    Args:
        known: Queries and their records.
        numbers: Number of queries for which each of them stands.
    """
    if len(known.rest) < _FEW:
        popularity, numbers = known.probability, np.ones(len(known.probability))
    else:
        popularity = known.totals
    order = np.argsort(-popularity, kind="stable")
    popularity, numbers = popularity[order], numbers[order]
    rank = np.cumsum(numbers) - numbers / 2 + 0.5
    seen = popularity > 0
    slope, _ = np.polyfit(
        np.log(rank[seen]), np.log(popularity[seen]), 1, w=np.sqrt(rank * numbers)[seen]
    )
    return float(np.clip(-slope, *_EXPONENTS))


def falling(top: float, rank: float, exponent: float, mass: float, most: int) -> FloatArray:
    """Return probabilities that begin below ``top``, fall by a power and sum to ``mass``."""
    number = min(most, int(mass / top) + 1)
    while True:
        p = top * ((rank + np.arange(1.0, number + 1)) / rank) ** -exponent
        reached = int(np.searchsorted(np.cumsum(p), mass))
        if reached < len(p):
            p = p[: reached + 1]
            return np.asarray(p * (mass / p.sum()))
        if number >= most:
            return np.asarray(p + (mass - p.sum()) / len(p))
        number = min(2 * number, most)


def spread_rests(known: QueryRecords, bound: float, exponent: float) -> QueryRecords:
    """Return the queries with their rests spread over further records, too rare to be listed."""
    most = max(min(_MOST_REST, _MOST_RESTS // max(len(known.rest), 1)), 1)
    own = np.bincount(known.query, minlength=len(known.rest))
    query, probability = [known.query], [known.probability]
    for q in np.flatnonzero(known.rest > 0).tolist():
        mass = float(known.rest[q])
        rank = max(float(own[q]), mass / (4 * bound))
        p = falling(bound, rank, exponent, mass, most)
        query.append(np.full(len(p), q))
        probability.append(p)
    return QueryRecords(
        query=np.concatenate(query),
        probability=np.concatenate(probability),
        rest=np.zeros(len(known.rest)),
    )


def _url_shares(known: QueryRecords, listed: FloatArray) -> FloatArray:
    """Return the shares of URLs in an average query, the largest first."""
    totals = np.maximum(known.totals, 1e-300)
    order = np.lexsort((-known.probability, known.query))
    query, p = known.query[order], known.probability[order]
    place = np.arange(len(query)) - np.searchsorted(query, query)
    weight = 1 / listed
    shares = np.bincount(place, weights=(weight / totals)[query] * p) / weight.sum()
    shares = shares[:_MOST_URLS]
    rest = max(1 - float(shares.sum()), 0.0)
    pieces = min(int(np.ceil(rest / shares[-1])), _MOST_URLS) if rest > 1e-9 else 0
    return np.concatenate([shares, np.full(pieces, rest / max(pieces, 1))])
