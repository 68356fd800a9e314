"""Release as its readers see it: the input of local search and trends.

It has plain numbers without the algorithm. Everything in a release is already private, so any
computation on it is post-processing and costs nothing.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Protocol, runtime_checkable

from blender_dp.core.errors import ParameterError

Cell = Literal["record", "query", "other_url", "other"]
"""Kind of a row: one record, one query, a listed query with any other URL, everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedEstimate:
    """Estimates of a row's probability; None where there is no estimate."""

    cell: Cell
    query: str | None
    probability: float
    """The released estimate."""
    raw_probability: float
    """Estimate before projection onto the simplex; ``std_error`` and interval belong to it."""
    std_error: float | None
    """None if a variance estimate is negative (flaw F1): the estimate may be far off."""
    low: float | None
    high: float | None
    client_probability: float | None
    """Estimate of all clients; None if no client was asked, as for an empty list."""
    client_std_error: float | None
    opt_in_probability: float | None
    opt_in_std_error: float | None
    opt_in_weight: float | None

    @property
    def is_listed(self) -> bool:
        """Whether this is one record or one query, not the rest of something."""
        return self.cell in ("record", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedQuery(ReleasedEstimate):
    """A query, or everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedRecord(ReleasedEstimate):
    """A record ⟨q, u⟩, a listed query with any other URL, or everything else."""

    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedDiscovery:
    """How the list was found: public constants, and what the noisy scalars say about users.

    A record is listed if its value with noise reaches the threshold. The value is the number of
    users who gave it, with noise of two slopes; or, if there is a ``sigma``, the sum of users'
    weights, with Gaussian noise.
    """

    branch: str | None
    """The branch of discovery; None in ``paper``, which has only one."""
    users: int
    """Number of users who found the list."""
    candidate_queries: int
    """Number of queries that were found, before the list was trimmed."""
    candidate_records: int
    threshold: float
    """Least value that is listed."""
    right_slope: float | None
    left_slope: float | None
    sigma: float | None
    average_weight: float | None
    """Total weight of an average user, at least 1, with noise; None if it was not released."""
    average_weight_error: float | None
    record_concentration: float | None
    """Mean share of a listed record in the data of those who have it, with noise, or None."""
    concentration_error: float | None
    known_elsewhere: bool | None = None
    """Whether some records may be listed although no value passed such a threshold; None: unknown.

    They were known from elsewhere, as from a catalogue.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Content of ``release.json``, made by ``read_release``."""

    private: bool
    """False if a seed was used: an experiment, not for publication."""
    created: str
    preset: str
    epsilon: float
    delta: float
    opt_in_users: int
    """The opt-in users whose records were counted."""
    client_users: int
    """All clients, relay clients among them."""
    relay_users: int = 0
    """The relay clients."""
    discovery_users: int = 0
    """The opt-in users who found the list and whose records are not counted again, in ``paper``."""
    confidence: float
    """Confidence of the intervals."""
    queries: tuple[ReleasedQuery, ...]
    """Most probable first, including everything else."""
    records: tuple[ReleasedRecord, ...]
    """Most probable first, including the rests that are not listed."""
    unlisted_bound: float | None = None
    """A record this probable is unlisted with probability at most 10⁻⁶; None if unknown."""
    fake_weight: float | None = None
    """Number of clients with a record that one fake report counts for; None if unknown."""
    discovery: ReleasedDiscovery | None = None
    """How the list was found; None if unknown."""
    query_name: str | None = None
    """What a query is called, such as product; None: query."""
    url_name: str | None = None
    """What a URL is called, such as state; None: URL."""

    def __repr__(self) -> str:
        return (
            f"<Release of {self.created}: {len(self.listed_queries()):,} queries; "
            f"ε = {self.epsilon:g}, δ = {self.delta:g}; "
            f"{'private' if self.private else 'not private'}>"
        )

    def listed_queries(self) -> list[ReleasedQuery]:
        """Return the queries of the head list, most probable first."""
        return [row for row in self.queries if row.is_listed]

    @property
    def lists_queries(self) -> bool:
        """Whether the list is one of queries without URLs."""
        return bool(self.listed_queries()) and not any(row.is_listed for row in self.records)

    @property
    def relay_share(self) -> float:
        """The share of the clients who used the relay."""
        return self.relay_users / self.client_users if self.client_users else 0.0

    def listed_records(self) -> dict[str, list[ReleasedRecord]]:
        """Return the records of each listed query, most probable first."""
        listed = [row for row in self.records if row.is_listed]
        by_query = sorted(listed, key=lambda row: row.query or "")
        return {query or "": list(rows) for query, rows in groupby(by_query, lambda r: r.query)}


@runtime_checkable
class HasRelease(Protocol):
    """Result of a run, or anything else that has a release."""

    def release(self) -> Release:
        """Return the release."""
        ...


def release_from(given: object, name: str = "release") -> Release:
    """Return a release, or that of a result.

    Raises:
        ParameterError: It is neither.
    """
    if isinstance(given, Release):
        return given
    if isinstance(given, HasRelease):
        return given.release()
    raise ParameterError(name, "a release, or the result of a run", type(given).__name__)
