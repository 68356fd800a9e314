"""Draws that the shapes and the benchmark workloads share.

The randomness of this folder is numpy's, seeded on purpose: it makes data, which must be the same
for everyone who names the same seed. It is never noise that protects anyone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blender_dp.engine.synthetic.shapes import URL_SHARES

FAVOURITES = 3
"""Number of records that a user repeats."""

FAVOURITE_SHARE = 0.5
"""Average share of these records in a user's log."""

_SORTED_AT_A_TIME = 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Row-aligned ids of a log's records, users in order."""

    user: NDArray[np.int64]
    query: NDArray[np.int64]
    url: NDArray[np.int64]


def generator(seed: int, *purpose: int) -> np.random.Generator:
    """Return the generator of a seed; ``purpose`` separates streams of the same seed."""
    # Named instead of default_rng, whose bit generator numpy may replace some day.
    return np.random.Generator(np.random.PCG64([seed, *purpose] if purpose else seed))


def cumulate(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative distribution, ending in exactly 1."""
    cdf = np.cumsum(probabilities)
    cdf /= cdf[-1]
    return cdf


def invert(cdf: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each uniform number the id whose step of ``cdf`` it falls into."""
    # Sorted lookups hit the same cache lines; sorted in pieces, the pieces fit the cache too. This
    # is several times as fast as random order, with the same result.
    ids = np.empty(len(uniforms), dtype=np.int64)
    for start in range(0, len(uniforms), _SORTED_AT_A_TIME):
        piece = uniforms[start : start + _SORTED_AT_A_TIME]
        order = np.argsort(piece)
        ids[start + order] = np.searchsorted(cdf, piece[order])
    return ids


def draw_urls(
    size: int, rng: np.random.Generator, url_shares: Sequence[float] = URL_SHARES
) -> NDArray[np.int64]:
    """Draw the URL of each record among those of its query."""
    shares = np.array(url_shares)
    return rng.choice(len(shares), size=size, p=shares / shares.sum()).astype(np.int64)


def draw_records(
    cdf: NDArray[np.float64],
    size: int,
    rng: np.random.Generator,
    url_shares: Sequence[float] = URL_SHARES,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the query and the URL of ``size`` independent records."""
    query = invert(cdf, rng.random(size))
    return query, draw_urls(size, rng, url_shares)


def draw_with_favourites(
    cdf: NDArray[np.float64],
    counts: NDArray[np.int64],
    rng: np.random.Generator,
    url_shares: Sequence[float] = URL_SHARES,
) -> Columns:
    """Draw the records of users who have ``counts`` of them each, with personal repeats.

    Favourites come from the same distribution as all other records, and each is equally likely to
    be repeated. So every single record still follows ``cdf``; repeats only make a user's records
    depend on each other.
    """
    users = len(counts)
    user = np.repeat(np.arange(users), counts)
    favourite_query, favourite_url = draw_records(cdf, users * FAVOURITES, rng, url_shares)
    query, url = draw_records(cdf, len(user), rng, url_shares)
    repeats = rng.random(len(user)) < FAVOURITE_SHARE
    favourite = user * FAVOURITES + rng.integers(0, FAVOURITES, len(user))
    return Columns(
        user=user,
        query=np.where(repeats, favourite_query[favourite], query),
        url=np.where(repeats, favourite_url[favourite], url),
    )
