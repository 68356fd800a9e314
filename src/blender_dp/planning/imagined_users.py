"""Users drawn from a prior: opt-in users one by one, clients as counts.

They have the interface of real users, so a plan runs :func:`~blender_dp.core.blender.blender`
itself.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.engine.population.group_sizes import discovery_users
from blender_dp.engine.population.simulated_clients import SimulatedClients
from blender_dp.engine.synthetic.draws import generator
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedUsers
from blender_dp.evaluation.trials.counted_reports import all_at_once
from blender_dp.planning.prior import Prior

_OPT_IN, _ORDER, _CLIENTS, _REPORTS, _TRUTH = range(5)
"""Purposes of the random streams of one seed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImaginedClients:
    """A number of clients, each with one record from the prior; only counts are drawn."""

    prior: Prior
    query_number: IntArray
    """The prior's number of each query, by its code in the opt-in users' log."""
    size: int
    seed: tuple[int, ...]
    drawn: list[IntArray] = field(default_factory=list)
    """Drawn counts, kept for the truth; a part of these clients appends to the same list."""

    def split(self, fraction: float) -> "tuple[ImaginedClients, ImaginedClients]":
        """Divide the clients."""
        first = discovery_users(self.size, fraction)
        return (
            replace(self, size=first, seed=(*self.seed, 1)),
            replace(self, size=self.size - first, seed=(*self.seed, 2)),
        )

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Draw the number of clients in each cell."""
        if records_per_user != 1:
            raise ParameterError("records_per_client", "1 in a plan", records_per_user)
        p = self.cell_probabilities(head_list)
        counts: IntArray = generator(*self.seed).multinomial(self.size, p)
        self.drawn.append(counts)
        return counts

    def listed_numbers(self, head_list: HeadList) -> IntArray:
        """Return the prior's number of every listed query."""
        return self.query_number[np.array([int(q) for q in head_list.queries], dtype=np.int64)]

    def cell_probabilities(self, head_list: HeadList) -> FloatArray:
        """Return the prior's probability of every cell."""
        cells, query = head_list.cells, self.listed_numbers(head_list)
        url = np.array([int(record.url) for record in head_list.records()], dtype=np.int64)
        of_query = self.prior.query_probability(query)
        listed = cells.listed
        p = np.zeros(cells.cell_count)
        p[listed] = self.prior.record_probability(query[cells.query_of_cell[listed]], url)
        p[cells.star_of_query] = np.append(of_query, 1.0) - cells.by_query(p)
        p[cells.other] = 1 - of_query.sum()
        p = np.maximum(p, 0.0)
        return np.asarray(p / p.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImaginedPopulation:
    """All users of one imagined collection."""

    log: CodedLog
    """The opt-in users' records."""
    opt_in: CodedUsers
    imagined: ImaginedClients
    """All clients before they are randomised."""
    relay_clients: int
    """Number of them who use the relay."""
    clients: SimulatedClients
    relayed: SimulatedClients | None
    seed: int

    @classmethod
    def draw(
        cls, prior: Prior, *, opted_in: int, clients: int, relay_clients: int, seed: int
    ) -> "ImaginedPopulation":
        """Draw all groups from the same prior; relay clients are some of the clients."""
        columns = prior.draw(opted_in, _stream(seed, _OPT_IN))
        log = CodedLog.of(columns.user, columns.query, columns.url)
        query_number = np.empty(int(log.query.max(initial=-1)) + 1, dtype=np.int64)
        query_number[log.query[log.row_record]] = columns.query
        imagined = ImaginedClients(
            prior=prior, query_number=query_number, size=clients, seed=(seed, _CLIENTS)
        )
        opt_in = CodedUsers.drawn_from(log, _stream(seed, _ORDER))
        local, relayed = _simulated(imagined, relay_clients, seed)
        return cls(
            log=log,
            opt_in=opt_in,
            imagined=imagined,
            relay_clients=relay_clients,
            clients=local,
            relayed=relayed,
            seed=seed,
        )

    def with_new_draws(self) -> "ImaginedPopulation":
        """Return the same users before any client has reported."""
        imagined = replace(self.imagined, drawn=[])
        local, relayed = _simulated(imagined, self.relay_clients, self.seed)
        return replace(self, imagined=imagined, clients=local, relayed=relayed)

    def true_cells(self, head_list: HeadList) -> FloatArray:
        """Return the mean over all users of their share of every cell, once reports were drawn.

        One record per client was drawn, not all its shares. A client's shares have variance c·p,
        where c is the concentration of shares in a cell. A drawn record has variance p, and the
        shares are its mean. So given the drawn records, the shares are normal with mean
        p + c·(drawn - p) and variance c(1 - c)·p.
        """
        p, n_c = self.imagined.cell_probabilities(head_list), self.imagined.size
        drawn = np.sum(self.imagined.drawn, axis=0)
        c = self._concentrations(head_list)
        unseen = np.sqrt(c * (1 - c) * n_c * p)
        noise = generator(self.seed, _TRUTH).normal(size=len(p))
        shares = np.maximum(n_c * p + c * (drawn - n_c * p) + unseen * noise, 0.0)
        of_opt_in = self.log.users * self.log.true_cells(head_list)
        return np.asarray((of_opt_in + shares) / (self.log.users + n_c))

    def _concentrations(self, head_list: HeadList) -> FloatArray:
        """Return Σf² over Σf of the opt-in users' shares f of each cell; 1 if no user has it."""
        log, cells = self.log, head_list.cells.cell_count
        user = np.repeat(np.arange(log.users), np.diff(log.first_own))
        cell = log.cells_of_records(head_list)[log.own_record]
        of_user, pair = np.unique(user * cells + cell, return_inverse=True)
        share = np.bincount(pair, weights=log.own_rows / np.diff(log.first_row)[user])
        cell = of_user % cells
        total = np.bincount(cell, weights=share, minlength=cells)
        squares = np.bincount(cell, weights=share**2, minlength=cells)
        mean = np.divide(squares, total, out=np.ones(cells), where=total > 0)
        return np.minimum(mean, 1.0)  # shares that were added up may be 1 and a rounding error


def _simulated(
    imagined: ImaginedClients, relay_clients: int, seed: int
) -> tuple[SimulatedClients, SimulatedClients | None]:
    """Return the clients who report directly and, if there are any, those who use the relay."""
    randomise = all_at_once(generator(seed, _REPORTS))
    if not relay_clients:
        return SimulatedClients(imagined, randomise), None
    sizes = (imagined.size - relay_clients, relay_clients)
    local, relayed = (
        SimulatedClients(replace(imagined, size=size, seed=(*imagined.seed, place)), randomise)
        for place, size in enumerate(sizes, start=3)
    )
    return local, relayed


def _stream(seed: int, purpose: int) -> int:
    """Return the seed of one purpose."""
    return int(generator(seed, purpose).integers(2**62))
