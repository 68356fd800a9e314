"""Rule for which queries and records of a release may be shown to people.

Opt-in users decide which records are listed, and a few accounts that act together can list any
record: at ε = 4, δ = 10⁻⁵ five to nine accounts, depending on how the list is found. They cannot
change the clients' estimate. So a query or record is served only if the clients' estimate alone
shows that enough of them have it, and if the opt-in estimate does not contradict it.

Fake reports can change the clients' estimate too, since anybody may send reports. So the amount
that a stated share of fake clients could have added is subtracted first, unless the opt-in users'
estimate rules it out.
"""

import math
from dataclasses import dataclass

from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import (
    Release,
    ReleasedEstimate,
    ReleasedQuery,
    ReleasedRecord,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRule:
    """Thresholds that a query or record must pass to be shown."""

    significance: float = 3.0
    """Standard errors by which the clients' estimate must exceed ``fewest_users``. At 3, a
    record that no client has is served in 1 of 740 releases."""
    fewest_users: int = 50
    """Fewest clients that must have the record."""
    widest_difference: float = 4.0
    """Largest difference between the two groups, in standard errors."""
    push: float = 0.0001
    """Share of fake clients that must not be able to make a record appear."""

    def __post_init__(self) -> None:
        for name in ("significance", "widest_difference"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ParameterError(name, "a number of standard errors", getattr(self, name))
        if self.fewest_users < 0:
            raise ParameterError("fewest_users", "0 or more", self.fewest_users)
        if not 0 <= self.push <= 1:
            raise ParameterError("push", "a share from 0 to 1", self.push)

    def surplus(self, row: ReleasedEstimate, release: Release) -> float:
        """Return by how many standard errors the clients' estimate exceeds ``fewest_users``.

        The amount that fake reports may have added is subtracted first.
        """
        clients = row.client_probability
        if clients is None or not row.client_std_error:  # no estimate, or an empty list
            return -math.inf
        believed = clients - self._pushed(row, clients, release)
        surplus = believed - self.fewest_users / max(release.client_users, 1)
        return surplus / row.client_std_error

    def allows(self, row: ReleasedEstimate, release: Release) -> bool:
        """Tell whether a row may be shown."""
        clients = row.client_probability
        if clients is None or self.surplus(row, release) < self.significance:
            return False
        return self._groups_agree(row, clients, release)

    def _pushed(self, row: ReleasedEstimate, clients: float, release: Release) -> float:
        """Return how much the stated share of fake clients may have added to the clients' estimate.

        It cannot be more than the difference to the opt-in estimate, plus ``significance`` standard
        errors of that difference.
        """
        most = self.push * (release.fake_weight or 0.0)
        if row.opt_in_probability is None or not release.opt_in_users:
            return most
        excess = clients - row.opt_in_probability
        room = excess + self.significance * _error_of_difference(row, clients, release)
        return min(most, max(room, 0.0))

    def _groups_agree(self, row: ReleasedEstimate, clients: float, release: Release) -> bool:
        if row.opt_in_probability is None or not release.opt_in_users:
            return True
        error = _error_of_difference(row, clients, release)
        difference = row.opt_in_probability - clients
        if row.cell == "query":  # opt-in query totals have listed URLs only (flaw F3)
            difference = max(difference, 0.0)
        return abs(difference) <= self.widest_difference * error


def _error_of_difference(row: ReleasedEstimate, clients: float, release: Release) -> float:
    """Return the standard error of the difference between the groups' estimates of a row."""
    # A small count underestimates its own error; the clients' estimate is used instead.
    p = min(max(clients, 0.0), 1.0)
    opt_in_variance = max((row.opt_in_std_error or 0.0) ** 2, p * (1 - p) / release.opt_in_users)
    return math.hypot(math.sqrt(opt_in_variance), row.client_std_error or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Queries and records that a rule allows, most probable first."""

    queries: tuple[ReleasedQuery, ...]
    records: dict[str, list[ReleasedRecord]]
    """Allowed records by query; every allowed query is a key, perhaps without records."""


def served(release: Release, rule: ServingRule) -> Served:
    """Return the queries that may be suggested, each with the records that may be shown."""
    queries = [row for row in release.listed_queries() if rule.allows(row, release)]
    queries.sort(key=lambda row: -best_probability(row))
    listed = release.listed_records()
    records = {
        query: sorted(
            (row for row in listed.get(query, []) if rule.allows(row, release)),
            key=lambda row: -best_probability(row),
        )
        for row in queries
        if (query := row.query) is not None
    }
    return Served(queries=tuple(queries), records=records)


def best_probability(row: ReleasedEstimate) -> float:
    """Return the blended estimate, or the clients' where flaw F1 makes it invalid."""
    clients = row.client_probability
    return clients if row.std_error is None and clients is not None else row.probability
