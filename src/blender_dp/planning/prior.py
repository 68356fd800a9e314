"""Prior: the assumed distribution of records before any is collected."""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.engine.synthetic.draws import (
    Columns,
    cumulate,
    draw_records,
    draw_with_favourites,
    generator,
)
from blender_dp.engine.synthetic.laws import LogLaw, log_law
from blender_dp.engine.synthetic.shapes import URL_SHARES, Activity, Shape, ShapeOptions

SHAPES = "aol, yandex, zipf, zipf:s with an exponent s, flat, aol-single or aol-multi"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownRecords:
    """Records with known probabilities, by the number of their query and URL."""

    query: IntArray
    url: IntArray
    probability: FloatArray

    @classmethod
    def none(cls) -> "KnownRecords":
        """Return no known records: a shape describes queries only."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(query=nothing, url=nothing, probability=np.empty(0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """Distribution of records: known ones, then whole queries whose URLs share alike."""

    source: str
    """Source of the prior, as shown to people."""
    known: KnownRecords
    cdf: FloatArray
    """Cumulative probabilities of the known records, then of further queries by popularity."""
    activity: Activity
    """Distribution of the number of records per user."""
    url_shares: tuple[float, ...] = URL_SHARES
    """Shares of a further query's URLs, in proportion."""
    has_favourites: bool = True
    """Whether users repeat some of their own records."""
    is_fitted: bool = False
    """Whether it was fitted to a collection, whose chance is then in it."""

    @classmethod
    def of(cls, source: str, known: KnownRecords, law: LogLaw) -> "Prior":
        """Put known records before further queries; together they have probability 1."""
        cdf = cumulate(np.concatenate([known.probability, law.query_probability]))
        return cls(
            source=source,
            known=known,
            cdf=cdf,
            activity=law.activity,
            url_shares=law.url_shares,
        )

    def draw(self, users: int, seed: int) -> Columns:
        """Draw the records of a number of users."""
        rng = generator(seed)
        counts = self.activity.counts(users, rng)
        if self.activity.mean_records == 1 or not self.has_favourites:
            user = np.repeat(np.arange(users), counts)
            drawn, url = draw_records(self.cdf, len(user), rng, self.url_shares)
            return self._named(Columns(user=user, query=drawn, url=url))
        return self._named(draw_with_favourites(self.cdf, counts, rng, self.url_shares))

    def query_probability(self, query: IntArray) -> FloatArray:
        """Return the probability of each query, summed over its URLs."""
        known = self._known_queries
        of_known = np.bincount(self.known.query, weights=self.known.probability, minlength=known)
        probability = np.empty(len(query))
        is_known = query < known
        probability[is_known] = of_known[query[is_known]]
        probability[~is_known] = self._step(query[~is_known] - known + len(self.known.query))
        return probability

    def record_probability(self, query: IntArray, url: IntArray) -> FloatArray:
        """Return the probability of each record."""
        probability = self.query_probability(query)
        is_known = query < self._known_queries
        shares = np.array(self.url_shares) / sum(self.url_shares)
        probability[~is_known] *= shares[url[~is_known]]
        width = 1 + max(int(self.known.url.max(initial=0)), int(url.max(initial=0)))
        of_known = self.known.query * width + self.known.url
        order = np.argsort(of_known)
        wanted = query[is_known] * width + url[is_known]
        place = order[np.searchsorted(of_known, wanted, sorter=order)]
        probability[is_known] = self.known.probability[place]
        return probability

    @property
    def queries(self) -> int:
        """Number of queries; they are numbered by popularity."""
        return self._known_queries + len(self.cdf) - len(self.known.query)

    @property
    def _known_queries(self) -> int:
        return int(self.known.query.max(initial=-1)) + 1

    def _step(self, place: IntArray) -> FloatArray:
        return self.cdf[place] - np.where(place > 0, self.cdf[place - 1], 0.0)

    def _named(self, drawn: Columns) -> Columns:
        """Return the numbers of query and URL for places in ``cdf``."""
        known = len(self.known.query)
        is_known = drawn.query < known
        query = drawn.query - known + self._known_queries
        query[is_known] = self.known.query[drawn.query[is_known]]
        url = drawn.url.copy()
        url[is_known] = self.known.url[drawn.query[is_known]]
        return Columns(user=drawn.user, query=query, url=url)


def prior_like(like: str, records_per_user: float | None = None) -> Prior:
    """Return the prior of a named shape.

    Args:
        like: One of :data:`SHAPES`.
        records_per_user: Records of an average user; the shape's own number if left out.
    """
    name, colon, exponent = like.partition(":")
    if name not in set(Shape) or (colon and name != Shape.ZIPF):
        raise ParameterError("like", SHAPES, like)
    require_records_per_user(records_per_user)
    if records_per_user is not None and Shape(name) in (Shape.AOL_SINGLE, Shape.AOL_MULTI):
        raise ParameterError("records_per_user", f"left out for {name}", records_per_user)
    options = ShapeOptions(
        mean_records=records_per_user, exponent=_exponent(like, exponent) if colon else None
    )
    return Prior.of(like, KnownRecords.none(), log_law(Shape(name), options))


def require_records_per_user(records: float | None) -> None:
    """Refuse a mean that users' numbers of records cannot have."""
    if records is not None and not 1 <= records <= 100:
        raise ParameterError("records_per_user", "between 1 and 100", records)


def _exponent(like: str, text: str) -> float:
    try:
        exponent = float(text)
    except ValueError:
        raise ParameterError("like", SHAPES, like) from None
    if not 0 <= exponent <= 5:
        raise ParameterError("like", "zipf:s with an exponent s from 0 to 5", like)
    return exponent
