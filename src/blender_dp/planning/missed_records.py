"""Missed records: those as popular as the listed ones that chance kept off a list.

A listed query that gets on a list with probability Π stands for 1/Π queries like it. Within the
listed queries a listed record stands for Π/π records. If a query is surely on the list, that is
counted record by record. If it is not, a query with one lucky record cannot tell how many it has;
the number is then common to all such queries, such that their lists have the length that was found.
"""

from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

import numpy as np

from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.head_list.cells import FloatArray, IntArray

_SURE = 0.95
"""A query on the list with this probability is taken to be always there."""
_MOST_COPIES = 200.0
_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryRecords:
    """Queries with their records; queries are numbered, most popular first."""

    query: IntArray
    """Query of every record."""
    probability: FloatArray
    """Probability of every record."""
    rest: FloatArray
    """By query: probability of its records that are not among these."""

    @property
    def totals(self) -> FloatArray:
        """By query: its probability."""
        return self.summed(self.probability) + self.rest

    def summed(self, values: FloatArray) -> FloatArray:
        """Add up values of records by query."""
        sums = np.bincount(self.query, weights=values, minlength=len(self.rest))
        return np.asarray(sums, dtype=np.float64)

    def listed(self, rule: ListingRule, copies: FloatArray | float = 0.0) -> FloatArray:
        """Return the probability that each query is listed, if there are copies of its records."""
        unlisted = np.log1p(-np.minimum(rule.listed(self.probability), 1 - 1e-12))
        return np.asarray(-np.expm1(self.summed((1 + copies) * unlisted)))


def with_missed(found: QueryRecords, rule: ListingRule, *, less: float = 0.0) -> QueryRecords:
    """Return the listed queries with the records that they are expected to have besides.

    Args:
        found: The listed queries and records.
        rule: How they got on the list.
        less: Number of listed records that are accounted for otherwise.
    """
    copies = _copies(found, rule)
    counted = float((copies * rule.listed(found.probability)).sum())
    copies *= max(1 - less / max(counted, 1e-9), 0.0)
    order = np.argsort(-found.probability, kind="stable")
    whole = np.empty(len(order), dtype=np.int64)
    whole[order] = whole_numbers(copies[order])
    return _placed(found, whole)


def whole_numbers(expected: FloatArray) -> IntArray:
    """Round numbers so that every sum of the first ones is right to within one half."""
    up_to = np.floor(np.cumsum(expected) + 0.5).astype(np.int64)
    return np.diff(up_to, prepend=0)


def _copies(found: QueryRecords, rule: ListingRule) -> FloatArray:
    """Return how many missed records there are of each listed one, within the listed queries."""
    pi = rule.listed(found.probability)
    there = found.listed(rule)
    copies = np.zeros(len(pi))
    for _ in range(_ROUNDS):
        wanted = (there[found.query] - pi) / pi
        copies = np.where(there[found.query] >= _SURE, np.clip(wanted, 0, _MOST_COPIES), 0.0)
        there = found.listed(rule, copies)
    unsure = there[found.query] < _SURE
    if unsure.any():
        copies[unsure] = _common_number(found, rule, unsure, copies)[unsure]
    return copies


def _common_number(
    found: QueryRecords, rule: ListingRule, unsure: np.ndarray, copies: FloatArray
) -> FloatArray:
    """Return the copies with one number for all unsure queries, as far as their rests have room."""
    pi = rule.listed(found.probability)
    of_listed = np.maximum(found.summed(found.probability), 1e-300)
    room = (found.rest / of_listed)[found.query]

    def with_number(number: float) -> FloatArray:
        return np.where(unsure, np.minimum(number, room), copies)

    def expected(number: float) -> float:
        some = with_number(number)
        there = found.listed(rule, some)[found.query]
        return float((pi * (1 + some) / there)[unsure].sum())

    low, high, there_are = 0.0, _MOST_COPIES, np.count_nonzero(unsure)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) < there_are else (low, middle)
    return with_number(low)


def _placed(found: QueryRecords, copies: IntArray) -> QueryRecords:
    """Put copies into the rests: of the same query, or else of the one with the most room."""
    rest = found.rest.copy()
    free = [(-room, q) for q, room in enumerate(rest.tolist())]
    heapify(free)
    query, probability = [], []
    for record in np.argsort(-found.probability, kind="stable").tolist():
        p, own = float(found.probability[record]), int(found.query[record])
        for _ in range(int(copies[record])):
            q = own if rest[own] >= p else _roomiest(free, rest)
            if rest[q] < p:
                break
            rest[q] -= p
            heappush(free, (-float(rest[q]), q))
            query.append(q)
            probability.append(p)
    return replace(
        found,
        query=np.concatenate([found.query, np.array(query, dtype=np.int64)]),
        probability=np.concatenate([found.probability, probability]),
        rest=rest,
    )


def _roomiest(free: list[tuple[float, int]], rest: FloatArray) -> int:
    """Return the query with the most room; entries of the heap may be outdated."""
    while -free[0][0] != rest[free[0][1]]:
        heappop(free)
    return free[0][1]
