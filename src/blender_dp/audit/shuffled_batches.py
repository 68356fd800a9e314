"""Attack on relay clients: batches that differ in the record of one of them.

The attacker chooses the records of all clients and the reports of the dishonest ones, and sees the
batch as the collector does: the number of reports per cell. It orders batches by how much likelier
one of the victim's two records makes them, as the published channel says (Neyman and Pearson).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.local_alg.device import draw_reports

_BINS = 64
"""Classes of batches between the two largest likelihood ratios."""
_REPORTS_AT_ONCE = 1 << 20

Delivery = Callable[[IntArray], IntArray]
"""Turns batches, a row each with the victim's report first, into what the collector receives."""


def forget_order(batches: IntArray) -> IntArray:
    """Sort every batch by cell, which keeps the number of reports per cell and nothing else."""
    return np.sort(batches, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShuffledBatches:
    """Batches in which the victim holds one of two cells, and all other honest clients a third."""

    channel: SubsetChannel
    cells: tuple[int, int]
    """The victim's cell in either neighbour."""
    others: int
    """The cell of all other honest clients; the dishonest ones always name it."""
    honest: int
    """Number of honest reports, the victim's among them."""
    dishonest: int
    name: str
    deliver: Delivery = forget_order

    def draw(self, draws: int, randomness: Randomness, *, is_swapped: bool) -> IntArray:
        """Return the counts of all outcomes: the class of a batch, and its first report."""
        counts = np.zeros(3 * _BINS, dtype=np.int64)
        at_once = max(_REPORTS_AT_ONCE // self.honest, 1)
        for start in range(0, draws, at_once):
            batches = self._batches(min(at_once, draws - start), randomness, self.cells[is_swapped])
            received = self.deliver(batches)
            first = (received[:, :1] == np.array(self.cells)) @ np.array([1, 2])
            counts += np.bincount(first * _BINS + self._classes(received), minlength=len(counts))
        return counts

    def _batches(self, count: int, randomness: Randomness, held: int) -> IntArray:
        """Return the named cells, a row per batch, with the victim's report first."""
        true = np.full((count, self.honest), self.others)
        true[:, 0] = held
        tables = draw_reports(true.ravel(), self.channel, randomness)
        named = np.concatenate([table.argmax(axis=1) for table in tables])
        fakes = np.full((count, self.dishonest), self.others)
        return np.hstack([named.reshape(count, self.honest), fakes])

    def _classes(self, received: IntArray) -> IntArray:
        """Divide batches by the logarithm of their likelihood ratio.

        The victim named each cell that occurs: a cell v with c reports has the weight R(v)·c/S(v),
        where R and S are the laws of the victim's report and of another client's.
        """
        ratio = np.log(self._likelihood(received, 0) / self._likelihood(received, 1))
        most = log(self.channel.pin / self.channel.pout)
        places = np.floor((ratio / most + 1) / 2 * _BINS).astype(np.int64)
        return np.clip(places, 0, _BINS - 1)

    def _likelihood(self, received: IntArray, neighbour: int) -> FloatArray:
        of_victim, of_other = (self._law(cell) for cell in (self.cells[neighbour], self.others))
        weights = of_victim / of_other
        known = self.dishonest * weights[self.others]  # the attacker's own reports
        return np.asarray(weights[received].sum(axis=1) - known)

    def _law(self, true: int) -> FloatArray:
        law = np.full(self.channel.size, self.channel.pout)
        law[true] = self.channel.pin
        return law
