"""Prior from an earlier release: the listed records, those that were missed, and a tail.

A record near the threshold gets on a list by luck, with a known probability π. So each listed
record stands for 1/π records as popular as itself, of which all but one were missed (Horvitz and
Thompson). That makes the release predict itself, whatever the shape of its log: together they are
expected to give a list as long as this one. Rarer records follow in a tail, which continues the
popularities by a power of the rank until all probability is used up.
"""

from dataclasses import replace
from math import inf
from statistics import NormalDist

import numpy as np

from blender_dp.core.blender import PRESETS
from blender_dp.core.curator.budget import Branch
from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.errors import BlenderError
from blender_dp.core.estimation.release import Release, ReleasedDiscovery
from blender_dp.core.estimation.unlisted_bound import counting_rule
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.engine.synthetic.laws import ONE_RECORD, LogLaw
from blender_dp.engine.synthetic.shapes import Activity
from blender_dp.planning.activity_fit import MOST_ROWS, activity_of
from blender_dp.planning.missed_records import QueryRecords, whole_numbers, with_missed
from blender_dp.planning.prior import KnownRecords, Prior, require_records_per_user
from blender_dp.planning.unlisted_tail import Tail, exponent_of, spread_rests

_LEAST_RECORDS = 3
"""Fewest listed records from which a shape can be inferred."""
_SPREAD = 1.35
_LUCKY = 0.02
"""A listed record is taken to be at least so popular that it is listed with this probability."""

_SURELY = 0.99
"""A record listed with this probability is not on the list by luck."""
_WIDEST = 3.0
"""Largest relative error of an estimate that is taken for what it is."""
_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it are spread evenly over [0, 1), however many there are."""


def prior_of_release(
    release: Release, records_per_user: float | None = None, *, source: str = "release"
) -> Prior:
    """Return the prior that a release suggests; of listed queries, one URL each.

    Args:
        release: An earlier release of the same kind of data.
        records_per_user: Records of an average user; as the release says if left out.
        source: Name of the release.
    """
    require_records_per_user(records_per_user)
    discovery = release.discovery or _usual_discovery(release)
    rule = ListingRule.of(discovery)
    bound = rule.reached(_LUCKY)
    found = _found(release, rule, bound)
    if len(found.probability) < _LEAST_RECORDS:
        listed = "queries" if release.lists_queries else "records"
        raise BlenderError(
            f"a plan needs a release that lists at least {_LEAST_RECORDS} {listed} of positive "
            f"probability; this one has {len(found.probability)}"
        )
    trimmed = max(discovery.candidate_queries - len(found.rest), 0)
    known, tail = _cut(found, rule, trimmed) if trimmed else _whole(found, rule, bound)
    rest = tail.probabilities(1 - float(known.probability.sum()))
    total = float(known.probability.sum() + rest.sum())
    activity = _activity(discovery, records_per_user, found.probability)
    law = LogLaw(query_probability=rest / total, activity=activity)
    return replace(
        Prior.of(source, _numbered(known, total), law),
        url_shares=tuple(tail.url_shares.tolist()),
        has_favourites=False,
        is_fitted=True,
    )


def _found(release: Release, rule: ListingRule, bound: float) -> QueryRecords:
    """Return the listed records, none below the bound, and what the queries have besides."""
    queries = release.listed_queries()
    number = {row.query: i for i, row in enumerate(queries)}
    of_queries = release.lists_queries
    rows = queries if of_queries else [row for row in release.records if row.cell == "record"]
    stated = np.array([row.probability for row in rows], dtype=np.float64)
    error = np.array([row.std_error or 0.0 for row in rows], dtype=np.float64)
    records = QueryRecords(
        query=np.array([number[row.query] for row in rows], dtype=np.int64),
        probability=np.maximum(_scattered(stated, error, rule), bound),
        rest=np.zeros(len(number)),
    )
    if of_queries:  # what a query has besides is all that its list tells of it
        return records
    totals = np.array([row.probability for row in queries])
    return replace(records, rest=np.maximum(totals - records.summed(records.probability), 0.0))


def _scattered(stated: FloatArray, error: FloatArray, rule: ListingRule) -> FloatArray:
    """Return probabilities that differ like the true ones do, given the estimates.

    An estimate is a mean over what is possible; near the threshold most records that it may be are
    rarer and were missed more often. So each gets another quantile of what it may be.
    """
    mean = np.maximum(stated, 1e-300)
    spread = np.sqrt(np.log1p(np.minimum(error / mean, _WIDEST) ** 2))
    level = (np.arange(len(stated)) * _GOLDEN + 0.5) % 1
    z = np.array([NormalDist().inv_cdf(one) for one in np.clip(level, 0.01, 0.99).tolist()])
    possible = mean * np.exp(spread * z - spread**2 / 2)
    return np.where(rule.listed(stated) < _SURELY, possible, stated)


def _whole(found: QueryRecords, rule: ListingRule, bound: float) -> tuple[QueryRecords, Tail]:
    """Return all records that are not too rare to be listed, and the tail after them."""
    every = with_missed(found, rule)
    exponent = exponent_of(every, 1 / every.listed(rule))
    spread = spread_rests(every, bound, exponent)
    # What the spread rests are expected to add to the list was counted as missed already.
    added = float(rule.listed(spread.probability[len(every.probability) :]).sum())
    every = with_missed(found, rule, less=added)
    spread = spread_rests(every, bound, exponent)
    listed = spread.listed(rule)
    tail = Tail.of(every, listed, bound)
    free = max(1 - float(spread.probability.sum()), 0.0)
    missed = 1 / listed - 1
    added = tail.listed(tail.probabilities(free), rule)
    missed *= max(1 - added / max(float((missed * listed).sum()), 1e-9), 0.0)
    missed *= min(free / max(float((missed * spread.totals).sum()), 1e-300), 1.0)
    return _with_copies(spread, whole_numbers(missed)), tail


def _with_copies(known: QueryRecords, copies: IntArray) -> QueryRecords:
    """Return the queries, and copies of them with all their records."""
    queries = len(known.rest)
    source = np.concatenate([np.arange(queries), np.repeat(np.arange(queries), copies)])
    order = np.argsort(known.query, kind="stable")
    size = np.bincount(known.query, minlength=queries)
    first = np.cumsum(size) - size
    taken = np.concatenate([order[first[q] : first[q] + size[q]] for q in source.tolist()])
    return QueryRecords(
        query=np.repeat(np.arange(len(source)), size[source]),
        probability=known.probability[taken],
        rest=known.rest[source],
    )


def _cut(found: QueryRecords, rule: ListingRule, trimmed: int) -> tuple[QueryRecords, Tail]:
    """Return the records of a list that was cut, and a tail that begins below its last query.

    Args:
        found: What the list kept.
        rule: How records were found.
        trimmed: Number of queries that were found and not kept; all are in the tail.
    """
    every = with_missed(found, rule)
    surely = np.ones(len(every.rest))
    tail = Tail.of(every, surely, bound=float(every.probability.min()))
    tail = replace(tail, top=float(found.totals.min())).listing(trimmed, rule)
    return spread_rests(every, float(every.probability.min()), exponent_of(every, surely)), tail


def _numbered(known: QueryRecords, total: float) -> KnownRecords:
    """Number the queries by popularity, and the URLs of each."""
    rank = np.empty(len(known.rest), dtype=np.int64)
    rank[np.argsort(-known.totals, kind="stable")] = np.arange(len(known.rest))
    order = np.lexsort((-known.probability, rank[known.query]))
    query = rank[known.query][order]
    return KnownRecords(
        query=query,
        url=np.arange(len(query)) - np.searchsorted(query, query),
        probability=known.probability[order] / total,
    )


def _activity(
    discovery: ReleasedDiscovery, records_per_user: float | None, listed: FloatArray
) -> Activity:
    if records_per_user is None:
        return activity_of(discovery, listed)
    if records_per_user == 1:
        return ONE_RECORD
    return Activity(mean_records=records_per_user, spread=_SPREAD, cap=MOST_ROWS)


def _usual_discovery(release: Release) -> ReleasedDiscovery:
    """Return how a list of one record per user is found, for releases that do not state it."""
    preset: Preset = next((name for name in PRESETS if name == release.preset), "sharp")
    parameters = Parameters(epsilon=release.epsilon, delta=release.delta, preset=preset)
    branch: Branch | None = "laplace"
    users = release.opt_in_users
    if PRESETS[preset].parts_users:
        users, branch = release.discovery_users, None
    right, left, least = counting_rule(parameters, branch) or (inf, inf, 1)
    return ReleasedDiscovery(
        branch=None,
        users=max(users, 1),
        candidate_queries=0,
        candidate_records=0,
        threshold=float(least),
        right_slope=right,
        left_slope=left,
        sigma=None,
        average_weight=None,
        average_weight_error=None,
        record_concentration=None,
        concentration_error=None,
    )
