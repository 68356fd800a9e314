"""Channel: the distribution of a device's reports to one question."""

from typing import Protocol

from blender_dp.core.head_list.cells import FloatArray, IntArray


class Channel(Protocol):
    """Number of items that may be named, and number that a report names."""

    @property
    def size(self) -> int:
        """N, the number of items that may be named."""

    @property
    def subset_size(self) -> int:
        """d, the number of items that each report names."""


class Estimator(Protocol):
    """Estimates of the clients' shares from counts of reports, item by item."""

    @property
    def fake_weight(self) -> float:
        """Number of honest clients that one fake report counts for, on the item that it names."""

    def estimate(self, counts: IntArray | FloatArray, reports: int) -> FloatArray:
        """Return unbiased estimates of the share of clients with each item, from report counts."""

    def variance(self, p: FloatArray, reports: int) -> FloatArray:
        """Return the variance of an estimate of ``p`` that comes from randomising."""
