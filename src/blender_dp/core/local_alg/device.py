"""Device: from a record to the report that may leave it."""

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
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg import paper, sharp


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """How devices draw what they name, for one type of channel; all three have the same law."""

    one: Callable[[int, Any, Randomness], tuple[int, ...]]
    """What one device names, increasing."""
    many: Callable[[IntArray, Any, Randomness], Iterator[BoolArray]]
    """What each of many devices names: tables of who (row) names what (column)."""
    counts: Callable[[IntArray, Any, Randomness], IntArray]
    """How many devices name each item, when this many truly hold each."""


DRAWS: dict[type[Channel], Draws] = {
    LocalAlgChannel: Draws(
        one=paper.choose_cell, many=paper.choose_cells, counts=paper.report_counts
    ),
    SubsetChannel: Draws(
        one=sharp.choose_subset, many=sharp.choose_subsets, counts=sharp.subset_counts
    ),
}
"""What devices run, by the type of the channel."""


def draw_reports(
    true_items: IntArray, channel: Channel, randomness: Randomness
) -> Iterator[BoolArray]:
    """Yield which items each of many clients names, a table at a time: a row is a client."""
    return DRAWS[type(channel)].many(true_items, channel, randomness)


def report_counts(true_counts: IntArray, channel: Channel, randomness: Randomness) -> IntArray:
    """Return how many reports name each item, when this many clients truly hold each.

    The law is that of devices, one by one, from the same coins.
    """
    return DRAWS[type(channel)].counts(true_counts, channel, randomness)


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

    The list says which mechanism is used. LocalAlg names one cell, subset selection as many cells
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
        self._index, self._campaign_id = head_list.cell_index(), campaign_id
        self._query_of_cell = head_list.cells.query_of_cell
        self._query_share = head_list.mechanism.query_share
        self._channels = head_list.mechanism.channels(head_list.cells)

    def report(self, query: str | None, url: str | None) -> Report:
        """Return what to send instead of ⟨query, url⟩; (None, None) if there is no record.

        A client without a record reports too: silence would tell that it has none.
        """
        cell, question = self._index.cell(query, url), self._question()
        item = cell if question == "record" else int(self._query_of_cell[cell])
        channel = self._channels[question]
        items = DRAWS[type(channel)].one(item, channel, self._randomness)
        return Report(question=question, items=items)

    def _question(self) -> Question:
        if "query" not in self._channels:
            return "record"
        return question_for(self._query_share, self._campaign_id, self._randomness)
