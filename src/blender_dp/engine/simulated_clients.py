"""Clients whose raw records are at hand: what their devices would report."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.channel import LocalAlgChannel
from blender_dp.core.head_list import HeadList
from blender_dp.core.local_alg.paper import privatize_many
from blender_dp.core.population import OptInUsers
from blender_dp.core.randomness import Randomness

Randomise = Callable[[IntArray, LocalAlgChannel], IntArray]
"""From how many records are truly in each cell to how many reports name it."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedClients:
    """Users of any population, taken as clients."""

    users: OptInUsers
    """They answer the same questions as opt-in users here; a real client answers none of them."""
    randomise: Randomise

    @property
    def size(self) -> int:
        """How many clients."""
        return self.users.size

    def report_counts(self, head_list: HeadList) -> IntArray:
        """Randomise every record of every client and count what they report."""
        mechanism = head_list.mechanism
        true_counts = self.users.cell_counts(head_list, mechanism.records_per_client)
        return self.randomise(true_counts, LocalAlgChannel.of(head_list.cells, mechanism))


def one_by_one(randomness: Randomness) -> Randomise:
    """Return the randomisation that runs LocalAlg on every single record, as devices do."""

    def randomise(true_counts: IntArray, channel: LocalAlgChannel) -> IntArray:
        true_cells = np.repeat(np.arange(len(true_counts)), true_counts)
        reports = privatize_many(true_cells, channel, randomness)
        return np.bincount(reports, minlength=len(true_counts))

    return randomise
