"""Shapes of synthetic logs: probabilities of queries, and numbers of searches per user."""

import math
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from blender_dp.core.errors import ParameterError

AOL_HEADS = (0.0211, 0.0067, 0.0066, 0.0055, 0.0055, 0.0048, 0.0044, 0.0034, 0.0030)
"""The query probabilities of Avent et al., JPC 9(2) 2019, top-10 table.

The table's tenth row is ★, everything off its head list of 50 queries: 0.9121.
"""

URL_SHARES = (0.72, 0.1, 0.06, 0.04, 0.03, 0.02, 0.015, 0.01, 0.005)
"""Shares of a query's URLs in its clicks: one dominant, eight others."""

FLAT_SHARES = (0.02,) * 50
"""The same of the flat shape: fifty URLs, equally popular."""

MAX_QUERIES = 2**26
"""Most queries for which the numeric ids of a Yandex-shaped log are distinct (see names.py)."""

# The one exponent for which a Zipf tail from rank 10 to rank 4.8 million leaves 0.9121 outside the
# top 50, as the ★ row of the same table says; the tests solve for it again.
_AOL_EXPONENT = 0.7908025623

# Kaggle took the most frequent queries out of the Yandex log, so the head is flattened: a
# Zipf-Mandelbrot law whose top query has probability 0.0025, 1.4 times that of the tenth.
_YANDEX_EXPONENT = 0.95
_YANDEX_FLAT_RANKS = 20


class Shape(StrEnum):
    """Kind of synthetic log."""

    AOL = "aol"
    """The paper's AOL log: its top ten, a long tail, many records per user."""

    YANDEX = "yandex"
    """The paper's Yandex log: more users and queries, no famous heads, numeric ids."""

    ZIPF = "zipf"
    """A textbook Zipf law, one record per user unless asked otherwise."""

    FLAT = "flat"
    """A Zipf law of queries with fifty equally popular URLs each."""

    AOL_SINGLE = "aol-single"
    """Benchmark workload: one record per user."""

    AOL_MULTI = "aol-multi"
    """Benchmark workload: many records per user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Distribution of a user's number of records: lognormal, rounded up, from 1 to ``cap``."""

    mean_records: float
    spread: float
    cap: int

    def counts(self, users: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the number of records of each user."""
        if self.mean_records == 1:
            return np.ones(users, dtype=np.int64)
        # Rounding up adds about a half to the mean.
        log_median = math.log(self.mean_records - 0.5) - self.spread**2 / 2
        counts = np.ceil(rng.lognormal(log_median, self.spread, users))
        return np.clip(counts, 1, self.cap).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeOptions:
    """Changes of a shape; ``None`` keeps the shape's own value."""

    queries: int | None = None
    """Number of distinct queries (yandex, zipf, flat)."""

    exponent: float | None = None
    """The s of the r^-s law (zipf, flat)."""

    mean_records: float | None = None
    """Average number of records per user (aol, yandex, zipf, flat)."""

    def __post_init__(self) -> None:
        if self.queries is not None and not 1 <= self.queries <= MAX_QUERIES:
            raise ParameterError("queries", f"between 1 and {MAX_QUERIES}", self.queries)
        if self.exponent is not None and not 0 <= self.exponent < math.inf:
            raise ParameterError("exponent", "a finite number, at least 0", self.exponent)
        if self.mean_records is not None and not 1 <= self.mean_records <= 100:
            raise ParameterError("mean_records", "between 1 and 100", self.mean_records)

    def require_for(self, shape: Shape) -> None:
        """Refuse an option that ``shape`` does not have, instead of ignoring it."""
        for option in (field.name for field in fields(self)):
            value = getattr(self, option)
            if value is not None and option not in _CHANGEABLE[shape]:
                raise ParameterError(option, f"left out for the shape {shape}", value)


_CHANGEABLE = {
    Shape.AOL: {"mean_records"},
    Shape.YANDEX: {"mean_records", "queries"},
    Shape.ZIPF: {"exponent", "mean_records", "queries"},
    Shape.FLAT: {"exponent", "mean_records", "queries"},
    Shape.AOL_SINGLE: set[str](),
    Shape.AOL_MULTI: set[str](),
}

# Users: Avent et al., JPC 9(2) 2019, dataset statistics.
DEFAULT_USERS = {
    Shape.AOL: 519_371,
    Shape.YANDEX: 4_970_073,
    Shape.ZIPF: 100_000,
    Shape.FLAT: 519_371,
    Shape.AOL_SINGLE: 519_371,
    Shape.AOL_MULTI: 519_371,
}
_DEFAULT_QUERIES = {
    Shape.AOL: 4_800_000,
    Shape.YANDEX: 13_200_000,
    Shape.ZIPF: 100_000,
    Shape.FLAT: 100_000,
}
_DEFAULT_MEAN_RECORDS = {Shape.AOL: 12.0, Shape.YANDEX: 6.0, Shape.ZIPF: 1.0, Shape.FLAT: 1.0}
_SPREAD = {Shape.AOL: 1.35, Shape.YANDEX: 1.1, Shape.ZIPF: 1.35, Shape.FLAT: 1.35}
_CAP = 400


def activity(shape: Shape, options: ShapeOptions) -> Activity:
    """Return the activity of the users of a shape."""
    mean_records = options.mean_records
    if mean_records is None:
        mean_records = _DEFAULT_MEAN_RECORDS[shape]
    return Activity(mean_records=mean_records, spread=_SPREAD[shape], cap=_CAP)


def url_shares(shape: Shape) -> tuple[float, ...]:
    """Return the shares of a query's URLs in its clicks."""
    return FLAT_SHARES if shape is Shape.FLAT else URL_SHARES


def query_probabilities(shape: Shape, options: ShapeOptions | None = None) -> NDArray[np.float64]:
    """Return the probability of each query, most popular first, that a log is drawn from.

    It is the distribution of the query of one random record of one random user. The benchmark
    workloads keep their own (see workloads.py).
    """
    options = options or ShapeOptions()
    if shape not in _DEFAULT_QUERIES:
        raise ParameterError("shape", "aol, yandex, zipf or flat", str(shape))
    options.require_for(shape)
    queries = options.queries or _DEFAULT_QUERIES[shape]
    if shape is Shape.AOL:
        return _aol(queries)
    if shape is Shape.YANDEX:
        return _zipf(queries, _YANDEX_EXPONENT, flat_ranks=_YANDEX_FLAT_RANKS)
    return _zipf(queries, 1.0 if options.exponent is None else options.exponent)


def _aol(queries: int) -> NDArray[np.float64]:
    tail = np.arange(len(AOL_HEADS) + 1.0, queries + 1) ** -_AOL_EXPONENT
    # Only the tail is scaled: the published probabilities stay as printed.
    return np.concatenate([AOL_HEADS, tail * ((1 - sum(AOL_HEADS)) / tail.sum())])


def _zipf(queries: int, exponent: float, flat_ranks: int = 0) -> NDArray[np.float64]:
    weights = (np.arange(1.0, queries + 1) + flat_ranks) ** -exponent
    return np.asarray(weights / weights.sum(), dtype=np.float64)
