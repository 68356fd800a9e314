"""Reports of many devices, drawn in batches with the same distribution as single reports."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import draw_reports, require_same_kind
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.relayed.encrypted_report import (
    RelayedReport,
    ReportEncryption,
    relayed_report_document,
    relayed_reports_document,
)
from blender_dp.wire.reports.packed_items import pieces, to_text
from blender_dp.wire.reports.report import codec_of
from blender_dp.wire.reports.report_files import shared_fields
from blender_dp.wire.reports.service_report import (
    ID_BYTES,
    ID_FIELD,
    TOKEN_FIELD,
    batch_document,
    question_of,
    report_id_of,
)
from blender_dp.wire.service.signed_head_list import SignedHeadList

Fields = dict[str, Any]


def report_bodies(
    cells: IntArray,
    head_list: HeadList,
    randomness: Randomness,
    *,
    batch: int,
    random_bytes: Callable[[int], bytes] = os.urandom,
    tokens: Sequence[bytes] | None = None,
) -> Iterator[tuple[int, bytes]]:
    """Yield requests with the reports of all clients, each with its number of reports.

    Args:
        cells: The true cell of every client.
        head_list: The list that they report against.
        randomness: Source of the noise.
        batch: Reports per request; 1 sends each alone, as a device does.
        random_bytes: Source of report ids.
        tokens: A token for every client, if the list needs them; their ids follow from it.
    """
    require_same_kind(head_list, randomness)
    draw = _drawing(head_list, randomness)
    shared = shared_fields(head_list)
    for start in range(0, len(cells), batch):
        some = cells[start : start + batch]
        if tokens is None:
            field, names = ID_FIELD, pieces(random_bytes(ID_BYTES * len(some)), ID_BYTES)
            ids = names
        else:
            field, names = TOKEN_FIELD, list(tokens[start : start + batch])
            ids = [report_id_of(token) for token in names]
        reports = draw(some, ids)
        for fields, name in zip(reports, names, strict=True):
            fields[field] = to_text(name)
        whole = {**shared, **reports[0]} if batch == 1 else batch_document(head_list, reports)
        yield len(some), canonical(whole)


def relayed_bodies(
    cells: IntArray,
    signed: SignedHeadList,
    randomness: Randomness,
    *,
    batch: int,
    tokens: Sequence[bytes] | None = None,
) -> Iterator[tuple[int, bytes]]:
    """Yield requests to a relay with the encrypted reports of its clients, and their numbers.

    Args:
        cells: The true cell of every relay client.
        signed: The signed list that they report against.
        randomness: Source of the noise.
        batch: Reports per request; 1 sends each alone, as a device does.
        tokens: A token for every relay client, if the list needs them.
    """
    if signed.relay is None:
        raise BrokenInvariantError("this head list has no relay")
    head_list, key = signed.head_list.for_relay(), signed.relay.encryption_key
    require_same_kind(head_list, randomness)
    channel = head_list.mechanism.channels(head_list.cells)["record"]
    encryption = ReportEncryption(signed.head_list, campaign=signed.campaign, digest=signed.digest)
    for start in range(0, len(cells), batch):
        tables = draw_reports(cells[start : start + batch], channel, randomness)
        named = [cell for table in tables for cell in table.argmax(axis=1).tolist()]
        if tokens is None:
            reports = [RelayedReport(report_id=os.urandom(ID_BYTES), cell=cell) for cell in named]
        else:
            some = tokens[start : start + batch]
            reports = list(map(RelayedReport.with_token, some, named))
        encrypted = [encryption.encrypt(report, key) for report in reports]
        whole = (
            relayed_report_document(signed.digest, key, encrypted[0])
            if batch == 1
            else relayed_reports_document(signed.digest, key, encrypted)
        )
        yield len(encrypted), canonical(whole)


def _drawing(
    head_list: HeadList, randomness: Randomness
) -> Callable[[IntArray, list[bytes]], list[Fields]]:
    cells = head_list.cells
    channels = head_list.mechanism.channels(cells)
    fields_of = codec_of(head_list).report_fields(head_list)

    def draw(true_cells: IntArray, ids: list[bytes]) -> list[Fields]:
        asked = np.array([question_of(report_id, head_list) for report_id in ids])
        reports: dict[int, Fields] = {}
        for question, channel in channels.items():
            positions = np.flatnonzero(asked == question)
            items = true_cells[positions]
            if question == "query":
                items = cells.query_of_cell[items]
            tables = draw_reports(items, channel, randomness)
            drawn = (fields for table in tables for fields in fields_of(question, table))
            reports.update(zip(positions.tolist(), drawn, strict=True))
        return [reports[position] for position in range(len(ids))]

    return draw
