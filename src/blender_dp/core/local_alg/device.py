"""Device: from a record to the report that may leave it."""

from collections.abc import Callable
from typing import Any

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.errors import NotPrivateError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg import paper, sharp

Channel = LocalAlgChannel | SubsetChannel
_REPORTERS = {
    LocalAlgMechanism.name: paper.reporter,
    SubsetSelectionMechanism.name: sharp.reporter,
}
"""What a device runs, by the name of the mechanism."""
_COUNTERS: dict[type[Channel], Callable[[IntArray, Any, Randomness], IntArray]] = {
    LocalAlgChannel: paper.report_counts,
    SubsetChannel: sharp.subset_counts,
}
"""The same for many devices at once, by the type of the channel."""


def report_counts(true_counts: IntArray, channel: Channel, randomness: Randomness) -> IntArray:
    """Return how many reports name each item, when this many clients truly hold each.

    The law is that of devices, one by one, from the same coins.
    """
    return _COUNTERS[type(channel)](true_counts, channel, randomness)


def require_same_kind(head_list: HeadList, randomness: Randomness) -> None:
    """Refuse secure reports against a seeded list, and the other way round.

    So a list's own mark says whether everything made with it is private.
    """
    if randomness.is_private and not head_list.private:
        raise NotPrivateError(
            "this head list was made with a seed, for an experiment; no device may report "
            "against it but an experiment, which gives a seed too"
        )
    if head_list.private and not randomness.is_private:
        raise NotPrivateError(
            "this head list is for people; reports made with a seed must not be mixed with theirs"
        )


class LocalRandomizer:
    """Reports against one published head list; load the list once, then report.

    The list says which mechanism is used. LocalAlg sends one cell, subset selection as many cells
    or queries as the list and ε ask for.

    Privacy: each report is a fresh draw in the local model, (ε/m_C, δ/m_C) by LocalAlg and ε by
    subset selection. Draw once for each record and keep the result: a second draw for the same
    record spends the budget again.
    """

    def __init__(
        self,
        head_list: HeadList,
        *,
        campaign_id: str | bytes | None = None,
        randomness: Randomness | None = None,
    ) -> None:
        """Prepare to report against ``head_list``, with the system's randomness by default.

        Args:
            head_list: What the collector published.
            campaign_id: The client's public name in this campaign, which decides whether it is
                asked for its query only (subset selection). Without one the device tosses a coin.
            randomness: Where the noise comes from.
        """
        self._randomness = randomness or Randomness.secure()
        require_same_kind(head_list, self._randomness)
        if not head_list.queries:
            raise ParameterError("head_list", "a list with at least one query", "an empty list")
        self._index = head_list.cell_index()
        reporter = _REPORTERS[head_list.mechanism.name]
        self._report = reporter(head_list, campaign_id, self._randomness)

    def report(self, query: str | None, url: str | None) -> Report:
        """Return what to send instead of ⟨query, url⟩; (None, None) if there is no record.

        A client without a record reports too: silence would tell that it has none.
        """
        return self._report(self._index.cell(query, url))
