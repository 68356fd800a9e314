"""Device: makes a randomised report from a record."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from blender_dp.core.channels.channel import Channel
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.public_coin import question_for
from blender_dp.core.channels.report import Question, Report
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.errors import NotPrivateError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.head_list.head_list import NO_URL, HeadList
from blender_dp.core.local_alg import paper, sharp


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws of devices for one type of channel; all three have the same distribution."""

    one: Callable[[int, Any, Randomness], tuple[int, ...]]
    """Returns the items that one device names, increasing."""
    many: Callable[[IntArray, Any, Randomness], Iterator[BoolArray]]
    """Yields the items of many devices: tables with one row per device and one column per item."""
    counts: Callable[[IntArray, Any, Randomness], IntArray]
    """Returns the number of devices that name each item, given the true numbers."""


DRAWS: dict[type[Channel], Draws] = {
    LocalAlgChannel: Draws(
        one=paper.choose_cell, many=paper.choose_cells, counts=paper.report_counts
    ),
    SubsetChannel: Draws(
        one=sharp.choose_subset, many=sharp.choose_subsets, counts=sharp.subset_counts
    ),
}
"""Draws of devices, by the type of the channel."""


def draw_reports(
    true_items: IntArray, channel: Channel, randomness: Randomness
) -> Iterator[BoolArray]:
    """Yield the items of many clients, in tables with one row per client."""
    return DRAWS[type(channel)].many(true_items, channel, randomness)


def report_counts(true_counts: IntArray, channel: Channel, randomness: Randomness) -> IntArray:
    """Return the number of reports that name each item, given the true numbers of clients.

    The distribution is that of single devices, from the same source of random bits.
    """
    return DRAWS[type(channel)].counts(true_counts, channel, randomness)


def require_same_kind(head_list: HeadList, randomness: Randomness) -> None:
    """Refuse secure reports against a seeded list, and the other way round.

    So the mark of a list tells whether everything made with it is private.
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

    The list names the mechanism. LocalAlg names one cell; subset selection names several cells or
    queries, whose number follows from the list and ε.

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
            head_list: The published list.
            campaign_id: The client's public name in this campaign, which decides whether it reports
                only its query (subset selection). Without one the device draws that itself.
            randomness: Source of the noise.
        """
        if not isinstance(head_list, HeadList):
            raise ParameterError("head_list", "a head list", type(head_list).__name__)
        self._randomness = randomness or Randomness.secure()
        require_same_kind(head_list, self._randomness)
        if not head_list.queries:
            raise ParameterError("head_list", "a list with at least one query", "an empty list")
        self._index, self._campaign_id = head_list.cell_index(), campaign_id
        self._has_one_level = head_list.has_one_level
        self._query_of_cell = head_list.cells.query_of_cell
        self._query_share = head_list.mechanism.query_share
        self._channels = head_list.mechanism.channels(head_list.cells)

    def report(self, query: str | None, url: str | None = None) -> Report:
        """Return the report to send instead of ⟨query, url⟩; pass (None, None) without a record.

        A client without a record reports too: silence would reveal that it has none. Leave the URL
        out if the records of the list have one level.
        """
        for name, text in (("query", query), ("url", url)):
            if text is not None and not isinstance(text, str):
                raise ParameterError(name, "a text, or None without a record", type(text).__name__)
        if url is None and self._has_one_level:
            url = NO_URL
        cell, question = self._index.cell(query, url), self._question()
        item = cell if question == "record" else int(self._query_of_cell[cell])
        channel = self._channels[question]
        items = DRAWS[type(channel)].one(item, channel, self._randomness)
        return Report(question=question, items=items)

    def _question(self) -> Question:
        if "query" not in self._channels:
            return "record"
        return question_for(self._query_share, self._campaign_id, self._randomness)
