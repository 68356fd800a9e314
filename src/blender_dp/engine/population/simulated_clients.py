"""Simulated clients: reports that devices would send, computed from raw records."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blender_dp.core.channels.channel import Channel
from blender_dp.core.channels.report import Question
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import draw_reports, report_counts
from blender_dp.core.population import ReportCounts

Randomise = Callable[[IntArray, Channel], IntArray]
"""Maps the true number of clients per item to the number of reports that name it."""


class CountedUsers(Protocol):
    """Users whose records can be counted, which is enough to simulate them as clients."""

    @property
    def size(self) -> int:
        """Number of users."""
        ...

    def split(self, fraction: float) -> "tuple[CountedUsers, CountedUsers]":
        """Divide the users at random."""
        ...

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count their records by the cells of ``head_list``."""
        ...


_FEWEST_TO_PART = 3
"""With fewer clients than this, all report the record."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedClients:
    """Users of any population, taken as clients."""

    users: CountedUsers
    """Their true records are counted here; a real client's never are."""
    randomise: Randomise

    @property
    def size(self) -> int:
        """Number of clients."""
        return self.users.size

    def report_counts(self, head_list: HeadList) -> ReportCounts:
        """Randomise every client's record and count the items in the reports."""
        true, cells = self.true_counts(head_list), head_list.cells
        channels = head_list.mechanism.channels(cells)
        named = {asked: self.randomise(counts, channels[asked]) for asked, counts in true.items()}
        return ReportCounts(
            cells=named["record"],
            cell_reports=int(true["record"].sum()),
            queries=named.get("query", np.zeros(cells.query_count, dtype=np.int64)),
            query_reports=int(true["query"].sum()) if "query" in true else 0,
        )

    def true_counts(self, head_list: HeadList) -> dict[Question, IntArray]:
        """Count the true cells of clients that report the record, and queries of the others.

        Which clients report only the query (a share φ) is drawn independently of their records, as
        by the public coins of real clients.
        """
        mechanism, users = head_list.mechanism, self.users
        share = mechanism.query_share
        if not share or users.size < _FEWEST_TO_PART:
            return {"record": users.cell_counts(head_list, mechanism.records_per_client)}
        for_query, for_record = users.split(share)
        return {
            "record": for_record.cell_counts(head_list, 1),
            "query": head_list.cells.by_query(for_query.cell_counts(head_list, 1)),
        }


def one_by_one(randomness: Randomness) -> Randomise:
    """Return the randomisation with exactly the devices' probabilities, from secure random bits.

    LocalAlg runs on every single record. Subset selection draws counts for whole groups of clients,
    with the same probabilities as if each client reported by itself.
    """
    return lambda true_counts, channel: report_counts(true_counts, channel, randomness)


def reports_one_by_one(
    true_counts: Mapping[Question, IntArray], head_list: HeadList, randomness: Randomness
) -> dict[Question, Iterator[BoolArray]]:
    """Return the items that every client names, by question: tables with one row per client."""
    channels = head_list.mechanism.channels(head_list.cells)
    return {
        question: draw_reports(
            np.repeat(np.arange(len(counts)), counts), channels[question], randomness
        )
        for question, counts in true_counts.items()
    }
