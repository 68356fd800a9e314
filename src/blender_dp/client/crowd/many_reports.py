"""Reports of many devices, drawn in batches with the same distribution as one by one."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.report import Question
from blender_dp.core.channels.subset_selection import SubsetChannels
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import require_same_kind
from blender_dp.core.local_alg.paper import privatize_many
from blender_dp.core.local_alg.sharp import choose_subsets
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.report_files import shared_fields
from blender_dp.wire.reports.service_report import ID_BYTES, batch_document, question_of
from blender_dp.wire.reports.subset_reports import packings

Fields = dict[str, Any]


def report_bodies(
    cells: IntArray,
    head_list: HeadList,
    randomness: Randomness,
    *,
    batch: int,
    random_bytes: Callable[[int], bytes] = os.urandom,
) -> Iterator[tuple[int, bytes]]:
    """Yield requests with the reports of all clients, each with its number of reports.

    Args:
        cells: The true cell of every client.
        head_list: The list that they report against.
        randomness: Source of the noise.
        batch: Reports per request; 1 sends each alone, as a device does.
        random_bytes: Source of report ids.
    """
    require_same_kind(head_list, randomness)
    draw = _drawing(head_list, randomness)
    shared = shared_fields(head_list)
    for start in range(0, len(cells), batch):
        some = cells[start : start + batch]
        content = random_bytes(ID_BYTES * len(some))
        ids = [content[at : at + ID_BYTES] for at in range(0, len(content), ID_BYTES)]
        reports = draw(some, ids)
        for fields, report_id in zip(reports, ids, strict=True):
            fields["report_id"] = to_text(report_id)
        whole = {**shared, **reports[0]} if batch == 1 else batch_document(head_list, reports)
        yield len(some), canonical(whole)


def _drawing(
    head_list: HeadList, randomness: Randomness
) -> Callable[[IntArray, list[bytes]], list[Fields]]:
    mechanism, cells = head_list.mechanism, head_list.cells
    if mechanism.names_one_cell:
        channel = LocalAlgChannel.of(cells, mechanism)

        def told(true_cells: IntArray, _: list[bytes]) -> list[Fields]:
            reports = privatize_many(true_cells, channel, randomness)
            return [{"cell": cell} for cell in reports.tolist()]

        return told
    forms, channels = packings(head_list), SubsetChannels.of(cells, mechanism)

    def named(true_cells: IntArray, ids: list[bytes]) -> list[Fields]:
        asked = np.array([question_of(report_id, head_list) for report_id in ids])
        texts: dict[int, Fields] = {}
        for question, packing in forms.items():
            positions = np.flatnonzero(asked == question)
            items = true_cells[positions]
            if question == "query":
                items = cells.query_of_cell[items]
            tables = choose_subsets(items, channels.asking(question), randomness)
            rows = (row for table in tables for row in packing.pack(table))
            for position, row in zip(positions.tolist(), rows, strict=True):
                texts[position] = _answer(question, row.tobytes())
        return [texts[position] for position in range(len(ids))]

    return named


def _answer(question: Question, packed: bytes) -> Fields:
    return {"question": question, "items": to_text(packed)}
