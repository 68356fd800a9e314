"""Clients whose raw records are at hand: each record is randomised as a device would."""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.channel import LocalAlgChannel
from blender_dp.core.head_list import HeadList
from blender_dp.core.local_alg.paper import privatize_many
from blender_dp.core.population import OptInUsers
from blender_dp.core.randomness import Randomness


@dataclass(frozen=True, slots=True)
class SimulatedClients:
    """Users of any population, taken as clients."""

    users: OptInUsers
    """They answer the same questions as opt-in users here; a real client answers none of them."""
    randomness: Randomness

    @property
    def size(self) -> int:
        """How many clients."""
        return self.users.size

    def report_counts(self, head_list: HeadList) -> IntArray:
        """Run LocalAlg on every record of every client and count what they report."""
        mechanism = head_list.mechanism
        true_counts = self.users.cell_counts(head_list, mechanism.records_per_client)
        channel = LocalAlgChannel.of(head_list.cells, mechanism)
        true_cells = np.repeat(np.arange(len(true_counts)), true_counts)
        reports = privatize_many(true_cells, channel, self.randomness)
        return np.bincount(reports, minlength=len(true_counts))
