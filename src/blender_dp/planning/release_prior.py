"""Prior from an earlier release: the listed records, and an assumption about all others.

Listed records keep their estimates. The rest of a listed query is spread over further URLs.
Everything else is spread over further queries. Their popularity falls by a power of the rank,
fitted to the listed queries.
"""

import numpy as np

from blender_dp.core.errors import BlenderError
from blender_dp.core.estimation.release import Release
from blender_dp.core.head_list.cells import FloatArray
from blender_dp.engine.synthetic.laws import ONE_RECORD, LogLaw
from blender_dp.engine.synthetic.shapes import URL_SHARES, Activity
from blender_dp.planning.prior import KnownRecords, Prior, require_records_per_user

_LEAST_QUERIES = 3
"""Fewest listed queries to which a power of the rank can be fitted."""
_MOST_QUERIES = 4_000_000
_EXPONENTS = (0.3, 2.5)
_SPREAD, _MOST_RECORDS = 1.35, 400
_REST_SHARES: FloatArray = np.array(URL_SHARES[1:]) / sum(URL_SHARES[1:])


def prior_of_release(
    release: Release, records_per_user: float | None = None, *, source: str = "release"
) -> Prior:
    """Return the prior that a release suggests.

    Args:
        release: An earlier release of the same kind of data.
        records_per_user: Records of an average user, which a release does not tell; 1 if left out.
        source: Name of the release.
    """
    require_records_per_user(records_per_user)
    queries = [row for row in release.listed_queries() if row.probability > 0]
    if len(queries) < _LEAST_QUERIES:
        raise BlenderError(
            f"a plan needs a release that lists at least {_LEAST_QUERIES} queries of positive "
            f"probability; this one has {len(queries)}"
        )
    known = _known_records(release, [row.query or "" for row in queries])
    listed = np.array([row.probability for row in queries])
    tail = _tail(listed, max(1 - float(known.probability.sum()), 1e-6))
    activity = (
        Activity(mean_records=records_per_user, spread=_SPREAD, cap=_MOST_RECORDS)
        if records_per_user and records_per_user > 1
        else ONE_RECORD
    )
    return Prior.of(source, known, LogLaw(query_probability=tail, activity=activity))


def _known_records(release: Release, queries: list[str]) -> KnownRecords:
    """Number the listed queries by popularity, and spread their rests over further URLs."""
    number = {query: i for i, query in enumerate(queries)}
    query, url, probability = [], [], []
    urls = dict.fromkeys(queries, 0)
    rows = sorted(release.records, key=lambda row: row.cell != "record")  # rests come last
    for row in rows:
        if row.query not in number or row.probability <= 0:
            continue
        shares = np.ones(1) if row.cell == "record" else _REST_SHARES
        for share in shares.tolist():
            query.append(number[row.query])
            url.append(urls[row.query])
            probability.append(share * row.probability)
            urls[row.query] += 1
    return KnownRecords(
        query=np.array(query, dtype=np.int64),
        url=np.array(url, dtype=np.int64),
        probability=np.array(probability),
    )


def _tail(listed: FloatArray, mass: float) -> FloatArray:
    """Return probabilities of the queries after the listed ones; they sum to ``mass``.

    They continue the popularity of the last listed queries, in the number that is needed. If the
    power is so steep that no number is enough, the rest of the mass is spread evenly.
    """
    rank = np.arange(1.0, len(listed) + 1)
    slope, height = np.polyfit(np.log(rank), np.log(listed), 1, w=np.sqrt(rank))
    exponent = float(np.clip(-slope, *_EXPONENTS))
    last = float(np.exp(height + slope * np.log(rank[-1])))
    further = np.arange(len(listed) + 1.0, len(listed) + _MOST_QUERIES + 1)
    p = last * (further / rank[-1]) ** -exponent
    reached = np.searchsorted(np.cumsum(p), mass)
    if reached < len(p):
        p = p[: reached + 1]
        return np.asarray(p * (mass / p.sum()))
    return np.asarray(p + (mass - p.sum()) / len(p))
