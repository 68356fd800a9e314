"""LocalAlg as the paper states it (Fig. 6, ``fig:local-alg``), on cell numbers.

Privacy: (ε/m_C, δ/m_C) per call in the local model (``theorem:localalg-priv``), m_C calls per
client; see PRIVACY.md beside this file.
"""

from collections.abc import Iterator

import numpy as np

from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.exact.randomness import Randomness, WordArray
from blender_dp.core.head_list.cells import BoolArray, IntArray

_BLOCK = 1 << 16
"""Reports drawn at once: their words stay in the processor's cache."""
_TABLE_BYTES = 1 << 21
"""Size of a table with one row per client and one column per cell."""


def privatize(cell: int, channel: LocalAlgChannel, randomness: Randomness) -> int:
    """Return the cell one client reports instead of ``cell``.

    Paper: Fig. 6, the body of the loop that opens on line 7, after the folding of lines 8-11.

    Args:
        cell: The true cell of the user's record. It is sent only if it is drawn.
        channel: The thresholds of this head list.
        randomness: Source of the noise.
    """
    cells = channel.cells
    q = int(cells.query_of_cell[cell])
    if randomness.bits(64) >= channel.query_threshold:  # lines 12-16
        q = _other(q, cells.query_count, randomness)
        return int(cells.first_cell[q]) + randomness.below(int(cells.urls_per_query[q]))
    if randomness.bits(64) >= channel.url_thresholds[q]:  # lines 17-20
        first = int(cells.first_cell[q])
        return first + _other(cell - first, int(cells.urls_per_query[q]), randomness)
    return cell  # line 21


def choose_cell(cell: int, channel: LocalAlgChannel, randomness: Randomness) -> tuple[int, ...]:
    """Return the cell that one report names."""
    return (privatize(cell, channel, randomness),)


def _other(item: int, count: int, randomness: Randomness) -> int:
    """Draw uniformly from 0 .. ``count`` - 1 without ``item`` (Fig. 6: "from HL minus q")."""
    draw = randomness.below(count - 1)
    return draw + (draw >= item)


def privatize_many(
    true_cells: IntArray, channel: LocalAlgChannel, randomness: Randomness
) -> IntArray:
    """Return one report for each of many clients: :func:`privatize`, vectorised."""
    if channel.cells.query_count == 1:  # only ⟨⋆,⋆⟩ can be reported (reading R3)
        return true_cells.copy()
    reports = np.empty_like(true_cells)
    last_true_url_word = channel.last_true_url_word
    for start in range(0, len(true_cells), _BLOCK):
        block = slice(start, start + _BLOCK)
        reports[block] = _privatize_block(
            true_cells[block], channel, last_true_url_word, randomness
        )
    return reports


def choose_cells(
    true_cells: IntArray, channel: LocalAlgChannel, randomness: Randomness
) -> Iterator[BoolArray]:
    """Yield the cells of many clients, in tables with one row per client."""
    reports = privatize_many(true_cells, channel, randomness)
    rows = max(_TABLE_BYTES // channel.size, 1)
    for start in range(0, len(reports), rows):
        yield reports[start : start + rows, np.newaxis] == np.arange(channel.size)


def report_counts(
    true_counts: IntArray, channel: LocalAlgChannel, randomness: Randomness
) -> IntArray:
    """Return the number of reports that name each cell, given the true numbers of clients."""
    true_cells = np.repeat(np.arange(len(true_counts)), true_counts)
    reports = privatize_many(true_cells, channel, randomness)
    return np.bincount(reports, minlength=len(true_counts))


def _privatize_block(
    cell: IntArray, channel: LocalAlgChannel, last_true_url_word: WordArray, randomness: Randomness
) -> IntArray:
    cells = channel.cells
    q = cells.query_of_cell.take(cell)
    words = randomness.words(2 * len(cell))
    tells_query = words[: len(cell)] < np.uint64(channel.query_threshold)
    report = cell.copy()

    liars = np.flatnonzero(~tells_query)
    others = randomness.below_many(cells.query_count - 1, liars.size)
    others += others >= q.take(liars)
    drawn = randomness.below_each(cells.urls_per_query.take(others))
    drawn += cells.first_cell.take(others)
    report[liars] = drawn

    honest = np.flatnonzero(tells_query)  # who tells the query may still lie about the URL
    url_words = words[len(cell) :].take(honest)
    liars = honest[url_words > last_true_url_word.take(q.take(honest))]
    first = cells.first_cell[q[liars]]
    others = randomness.below_each(cells.urls_per_query[q[liars]] - 1)
    others += others >= cell[liars] - first
    report[liars] = first + others
    return report
