"""Channel: the law of what a device reports when it is asked one question."""

from typing import Protocol

from blender_dp.core.head_list.cells import FloatArray, IntArray


class Channel(Protocol):
    """How many items may be named, and how many of them a report names."""

    @property
    def size(self) -> int:
        """N, the items that may be named."""

    @property
    def subset_size(self) -> int:
        """d, how many of them each report names."""


class Estimator(Protocol):
    """What counts of reports say about the clients, item by item."""

    @property
    def fake_weight(self) -> float:
        """How many honest clients one fake report counts for, on the item that it names."""

    def estimate(self, counts: IntArray | FloatArray, reports: int) -> FloatArray:
        """Return unbiased shares of the clients who hold each item, from the reports naming it."""

    def variance(self, p: FloatArray, reports: int) -> FloatArray:
        """Return the variance that randomising alone gives an estimate of ``p``."""
