"""Benchmark workloads: two fixed data sets that published numbers refer to.

Any change of a generator call, of the order of calls or of a constant makes other data under the
same name. Tests compare digests of the data.
"""

import math

import numpy as np
from numpy.typing import NDArray

from blender_dp.engine.synthetic.draws import (
    Columns,
    cumulate,
    draw_urls,
    draw_with_favourites,
    generator,
    invert,
)
from blender_dp.engine.synthetic.shapes import AOL_HEADS

QUERIES = 4_800_000

HEADS = (*AOL_HEADS, AOL_HEADS[-1])
"""The nine published probabilities, and a tenth equal to the ninth."""

MULTI_LOG_MEDIAN, MULTI_SPREAD, MOST_RECORDS = math.log(12) - 0.9, 1.35, 400
"""Number of records per user of aol-multi: lognormal, rounded up, at most the last value."""

_SINGLE_EXPONENT = 0.885870071363438  # result of _continuing_exponent for QUERIES, which takes 4 s
_MULTI_EXPONENT = 0.886


def aol_single(users: int, seed: int = 0, queries: int = QUERIES) -> Columns:
    """Return the workload in which every user has one record."""
    cdf = np.cumsum(single_probabilities(queries))
    rng = generator(seed)
    # The uniform numbers are scaled to the sum, not the sum to 1: the last bits would differ.
    query = invert(cdf, rng.random(users) * cdf[-1])
    return Columns(user=np.arange(users), query=query, url=draw_urls(users, rng))


def aol_multi(users: int, seed: int = 1, queries: int = QUERIES) -> Columns:
    """Return the workload of many records per user: median 5, at most 400, half of them repeats."""
    rng = generator(seed)
    cdf = cumulate(multi_probabilities(queries))
    counts = np.ceil(rng.lognormal(MULTI_LOG_MEDIAN, MULTI_SPREAD, users))
    return draw_with_favourites(cdf, np.clip(counts, 1, MOST_RECORDS).astype(np.int64), rng)


def single_probabilities(queries: int = QUERIES) -> NDArray[np.float64]:
    """Return the probability of each query of aol-single, most popular first."""
    exponent = _SINGLE_EXPONENT if queries == QUERIES else _continuing_exponent(queries)
    return np.concatenate([HEADS, _tail(queries, exponent)])


def multi_probabilities(queries: int = QUERIES) -> NDArray[np.float64]:
    """Return the probability of each query of aol-multi, most popular first."""
    return np.concatenate([HEADS, _tail(queries, _MULTI_EXPONENT)])


def _tail(queries: int, exponent: float) -> NDArray[np.float64]:
    """Return the probabilities of the queries after ``HEADS``: a power law that shares the rest."""
    weights = (np.arange(1, queries + 1.0) ** -exponent)[len(HEADS) :]
    return np.asarray(weights / weights.sum() * (1 - sum(HEADS)), dtype=np.float64)


def _continuing_exponent(queries: int) -> float:
    """Return the exponent at which rank 11 has 0.95 of the probability of rank 10."""
    low, high = 0.3, 2.0
    middle = math.nan
    for _ in range(60):
        middle = (low + high) / 2
        if _tail(queries, middle)[0] > HEADS[-1] * 0.95:
            high = middle
        else:
            low = middle
    return middle
