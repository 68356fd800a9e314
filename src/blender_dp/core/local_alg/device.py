"""What a device runs: from a record to the report that may leave it."""

from blender_dp.core.channel import LocalAlgChannel
from blender_dp.core.errors import NotPrivateError, ParameterError
from blender_dp.core.head_list import HeadList
from blender_dp.core.local_alg.paper import privatize
from blender_dp.core.randomness import Randomness


def require_same_kind(head_list: HeadList, randomness: Randomness) -> None:
    """Refuse secure reports against a seeded list, and the other way round.

    So a list's own mark says whether everything made with it is private.
    """
    if randomness.is_private and not head_list.private:
        raise NotPrivateError(
            "this head list was made with a seed, for an experiment; nobody must report "
            "against it but an experiment, which gives a seed too"
        )
    if head_list.private and not randomness.is_private:
        raise NotPrivateError(
            "this head list is for people; reports made with a seed must not be mixed with theirs"
        )


class LocalRandomizer:
    """Reports against one published head list; load the list once, then report.

    Privacy: each report is a fresh draw, (ε/m_C, δ/m_C) in the local model. Draw once for each
    record and keep the result: a second draw for the same record spends the budget again.
    """

    def __init__(self, head_list: HeadList, *, randomness: Randomness | None = None) -> None:
        """Prepare to report against ``head_list``, with the system's randomness by default."""
        self._randomness = randomness or Randomness.secure()
        require_same_kind(head_list, self._randomness)
        if not head_list.queries:
            raise ParameterError("head_list", "a list with at least one query", "an empty list")
        self._index = head_list.cell_index()
        self._channel = LocalAlgChannel.of(head_list.cells, head_list.mechanism)

    def report(self, query: str | None, url: str | None) -> int:
        """Return the cell to send instead of ⟨query, url⟩; (None, None) if there is no record.

        A client without a record reports too: silence would tell that it has none.
        """
        return privatize(self._index.cell(query, url), self._channel, self._randomness)
