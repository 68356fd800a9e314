"""Population over a log in any engine: the counts for the five steps, as expressions.

All expressions are written in narwhals, so they run unchanged on every engine that implements
:class:`Tables`.
"""

from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import NO_URL, HeadList
from blender_dp.core.population import ShareSums
from blender_dp.engine.population.group_sizes import (
    discovery_users,
    opt_in_users,
    relay_users,
    require_both_groups,
)
from blender_dp.engine.population.keyed_permutation import quotient
from blender_dp.engine.population.ordered_users import OrderedUsers
from blender_dp.engine.population.own_records import OwnRecords
from blender_dp.engine.population.record_key import RecordKey
from blender_dp.engine.population.record_sums import TableRecordSums
from blender_dp.engine.population.simulated_clients import SimulatedClients, one_by_one
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True)
class TableUsers:
    """The users at a range of positions in the secret order."""

    tables: Tables
    sample: Frame
    """Rows with their user's position and their rank; rank 1 is drawn first."""
    key: RecordKey
    """What tells the records of ``sample`` and ``own`` apart."""
    own: OwnRecords | None
    """All records of opt-in users, if the log was opened with ``all_rows``."""
    start: int
    stop: int
    has_urls: bool = True
    """False if the records of these users are their queries."""

    @classmethod
    def of(cls, users: OrderedUsers, records_per_user: int, *, all_before: int) -> "TableUsers":
        """Fetch a number of records per user, and all records of the users before a position."""
        tables = users.tables
        rows, key = users.fetch_keyed_rows(records_per_user, all_before=all_before)
        if not all_before:
            return cls(tables, rows, key, None, 0, users.size)
        whole = rows.filter(nw.col("position") < all_before)
        own = OwnRecords.of(tables, whole, users.users, users.keys, key)
        sample = tables.narrowed(rows, nw.col("rank") <= records_per_user)
        return cls(tables, sample, key, own, 0, users.size)

    @property
    def size(self) -> int:
        """Number of users."""
        return self.stop - self.start

    def split(self, fraction: float) -> "tuple[TableUsers, TableUsers]":
        """Divide the users in two; their order is random, so both parts are random."""
        middle = self.start + discovery_users(self.size, fraction)
        return replace(self, stop=middle), replace(self, start=middle)

    def without_urls(self) -> "TableUsers":
        """Return the same users with the query of every record alone."""
        sample = self.key.with_names(self.sample).with_columns(url=nw.lit(NO_URL))
        return replace(self, sample=sample, key=RecordKey(), has_urls=False)

    def record_counts(self, records_per_user: int) -> TableRecordSums:
        """Count the distinct records of these users' samples."""
        counts = (
            self._rows(records_per_user)
            .filter(~nw.col(self.key.columns[0]).is_null())
            .group_by(*self.key.columns)
            .agg(sum=nw.len().cast(nw.Int64), first_row=nw.col("row").min())
        )
        return TableRecordSums.of(self.tables, counts, self.key)

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count these users' samples by cell; records outside the list count as ⟨⋆,⋆⟩."""
        if not head_list.queries:
            return np.array([records_per_user * self.size])
        rows = self._in_cells(self._rows(records_per_user), head_list)
        counts = rows.group_by("cell").agg(sum=nw.len().cast(nw.Int64))
        return self._by_cell(counts, head_list, records_per_user * self.size)

    def distinct_records(self, most: int) -> IntArray:
        """Count these users by their number of distinct records."""
        found = self.tables.fetch(self._own().user_counts(most))
        counts = np.zeros(most + 1, dtype=np.int64)
        counts[found["k"].to_numpy()] = found["count"].to_numpy()
        counts[0] = self.size - counts.sum()
        return counts

    def record_weights(self, weights: IntArray, class_width: int) -> TableRecordSums:
        """Add up the weights that users give to their distinct records."""
        own = self._own()
        return TableRecordSums.of(
            self.tables, own.weighed(weights), own.key, class_width=class_width
        )

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up these users' shares by cell; the rest of each user's data counts as ⟨⋆,⋆⟩."""
        if not head_list.queries:
            nothing_listed = np.array([unit * self.size])
            return ShareSums(cells=nothing_listed, record_squares=0, query_squares=0)
        listed = self._in_cells(self._own().with_rows_of_user(), head_list)
        share = quotient(nw.col("rows") * unit, nw.col("user_rows"))
        shares = self.tables.materialise(listed.select("position", "cell", "star", share=share))
        share = nw.col("share")
        # Σ f² // unit <= Σ f <= unit for every user: the bound on a user needs no cut.
        square = quotient(share * share, unit)
        sums = shares.group_by("cell").agg(sum=share.sum().cast(nw.Int64))
        records = shares.filter(nw.col("cell") != nw.col("star"))
        queries = shares.group_by("position", "star").agg(share=share.sum().cast(nw.Int64))
        return ShareSums(
            cells=self._by_cell(sums, head_list, unit * self.size),
            record_squares=self._total(records.select(square=square)),
            query_squares=self._total(queries.select(square=square)),
        )

    def _in_cells(self, records: Frame, head_list: HeadList) -> Frame:
        """Return the records of listed queries with their cell, and star: their query's ⟨q,⋆⟩."""
        if self.key.names is None:
            return self._listed_cells(head_list, records)
        return records.join(self._listed_cells(head_list, self.key.names), on="code", how="inner")

    def _listed_cells(self, head_list: HeadList, records: Frame) -> Frame:
        """Return the records, by their names, that have a cell of their own or of their query."""
        cells = head_list.cells
        names = head_list.records()
        stars = self.tables.upload(
            {"query": list(head_list.queries), "star": cells.star_of_query[:-1].tolist()}
        )
        records = records.join(stars, on="query", how="inner")
        if not names:
            return records.with_columns(cell=nw.col("star"))
        listed = self.tables.upload(
            {
                "query": [record.query for record in names],
                "url": [record.url for record in names],
                "cell": cells.listed.tolist(),
            }
        )
        return records.join(listed, on=["query", "url"], how="left").with_columns(
            cell=nw.coalesce("cell", "star")
        )

    def _by_cell(self, sums: Frame, head_list: HeadList, total: int) -> IntArray:
        """Return the sum of every cell; the last cell gets the rest of ``total``."""
        cells = head_list.cells
        by_cell = np.zeros(cells.cell_count, dtype=np.int64)
        found = self.tables.fetch(sums)
        by_cell[found["cell"].to_numpy()] = found["sum"].to_numpy()
        by_cell[cells.other] = total - by_cell[: cells.other].sum()
        return by_cell

    def _total(self, squares: Frame) -> int:
        found = self.tables.fetch(squares.select(total=nw.col("square").sum().cast(nw.Int64)))
        return int(found["total"][0].as_py() or 0)

    def _own(self) -> OwnRecords:
        if self.own is None:
            raise BrokenInvariantError("a log must be opened with all_rows to count all rows")
        own = self.own.of_users(self.start, self.stop)
        return own if self.has_urls else own.without_urls()

    def _rows(self, records_per_user: int) -> Frame:
        position = nw.col("position")
        return self.sample.filter(
            position >= self.start, position < self.stop, nw.col("rank") <= records_per_user
        )


@dataclass(frozen=True, slots=True)
class TablePopulation:
    """All users of a log."""

    opt_in: TableUsers
    clients: SimulatedClients
    relayed: SimulatedClients | None = None


def open_population(
    tables: Tables,
    randomness: Randomness,
    *,
    opt_in: float | None,
    relay: float = 0.0,
    records_per_user: int,
    all_rows: bool = False,
) -> TablePopulation:
    """Sample the log, order its users and divide them into opt-in users and clients.

    Args:
        tables: The engine that holds the log.
        randomness: For the secret keys and for the clients' noise.
        opt_in: The share of users who opted in, or None if the log names them.
        relay: The share of the clients who use the relay.
        records_per_user: Most records per user that a step will use.
        all_rows: Whether a step will use all rows of the opt-in users.
    """
    users = OrderedUsers.of(tables, randomness, has_groups=opt_in is None)
    opted_in = users.count_opted_in() if opt_in is None else opt_in_users(users.size, opt_in)
    require_both_groups(opted_in, users.size - opted_in)
    everyone = TableUsers.of(users, records_per_user, all_before=opted_in if all_rows else 0)
    local, randomise = opted_in + relay_users(users.size - opted_in, relay), one_by_one(randomness)
    relayed = replace(everyone, start=opted_in, stop=local)
    return TablePopulation(
        opt_in=replace(everyone, stop=opted_in),
        clients=SimulatedClients(replace(everyone, start=local), randomise),
        relayed=SimulatedClients(relayed, randomise) if relayed.size else None,
    )
