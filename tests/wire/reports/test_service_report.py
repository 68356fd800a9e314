"""Reports with ids: single and batched, of both mechanisms, and every refusal."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire.lists import LIST, SHARP_LIST, head_lists

from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.reports.packed_items import ItemPacking, rows_of_texts, table_of, to_text
from blender_dp.wire.reports.report_files import shared_fields
from blender_dp.wire.reports.service_report import (
    NamedItems,
    RefusedReportError,
    ReportFault,
    ReportReader,
    batch_document,
    question_of,
    service_report_document,
)

ids = st.binary(min_size=16, max_size=16)


def drawn(head_list: HeadList, report_id: bytes) -> tuple[tuple[int, ...], dict[str, Any]]:
    randomness = Randomness.secure() if head_list.private else Randomness.seeded(1)
    randomizer = LocalRandomizer(head_list, campaign_id=report_id, randomness=randomness)
    report = randomizer.report(head_list.queries[0], head_list.urls[0][0])
    return report.items, service_report_document(head_list, report_id, report)


def read(head_list: HeadList, documents: list[dict[str, Any]]) -> list[NamedItems]:
    reader = ReportReader(head_list)
    for one in documents:
        reader.require_shared(one["version"], one["head_list"], one["mechanism"])
    found = reader.ids([one["report_id"] for one in documents])
    if head_list.mechanism.layout == "cell":
        return reader.cells([one["cell"] for one in documents])
    questions, items = ([one[name] for one in documents] for name in ("question", "items"))
    return reader.subsets(found, questions, items)


@given(head_lists.filter(lambda one: one.queries), st.lists(ids, min_size=1, unique=True))
def test_what_devices_send_is_what_is_read(head_list: HeadList, chosen: list[bytes]) -> None:
    sent = [drawn(head_list, report_id) for report_id in chosen]
    received = json.loads(json.dumps([document for _, document in sent]))
    answers = read(head_list, received)
    items = {
        int(position): tuple(row)
        for answer in answers
        for position, row in zip(answer.reports, answer.items.tolist(), strict=True)
    }
    assert items == dict(enumerate(named for named, _ in sent))
    for answer in answers:
        assert {question_of(chosen[i], head_list) for i in answer.reports} == {answer.question}


def test_a_batch_says_once_what_its_reports_share() -> None:
    fields = [{"report_id": to_text(bytes(16)), "cell": 2}]
    assert batch_document(LIST, fields) == {**shared_fields(LIST), "reports": fields}


def of_question(question: str, number: int = 0) -> bytes:
    candidates = (bytes([number, i]) * 8 for i in range(256))
    return next(one for one in candidates if question_of(one, SHARP_LIST) == question)


RECORD_ID, QUERY_ID = of_question("record"), of_question("query")
RECORD, QUERY = drawn(SHARP_LIST, RECORD_ID)[1], drawn(SHARP_LIST, QUERY_ID)[1]
CELL = drawn(LIST, RECORD_ID)[1]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"version": 2}, ReportFault.VERSION),
        ({"version": True}, ReportFault.VERSION),
        ({"version": 1.0}, ReportFault.VERSION),
        ({"head_list": CELL["head_list"]}, ReportFault.HEAD_LIST),
        ({"mechanism": "subset-selection/2"}, ReportFault.MECHANISM),
        ({"report_id": ""}, ReportFault.REPORT_ID),
        ({"report_id": "é" * 22}, ReportFault.REPORT_ID),
        ({"report_id": "+" * 22}, ReportFault.REPORT_ID),
        ({"report_id": "A" * 21 + "B"}, ReportFault.REPORT_ID),
        ({"report_id": "A" * 23}, ReportFault.REPORT_ID),
        ({"question": "url"}, ReportFault.QUESTION),
        ({"question": "query"}, ReportFault.NOT_ASKED),
        ({"report_id": to_text(QUERY_ID)}, ReportFault.NOT_ASKED),
        ({"items": ""}, ReportFault.ITEMS),
        ({"items": QUERY["items"] * 2}, ReportFault.ITEMS),
        ({"items": "__"}, ReportFault.ITEMS),
        ({"items": "!!"}, ReportFault.ITEMS),
    ],
)
def test_a_report_that_no_device_could_send_is_refused(
    change: dict[str, Any], fault: ReportFault
) -> None:
    for others in ([], [QUERY]):  # alone, and in good company
        if "report_id" in change and change["report_id"] == QUERY["report_id"] and others:
            continue
        with pytest.raises(RefusedReportError) as refusal:
            read(SHARP_LIST, [*others, {**RECORD, **change}])
        assert refusal.value.fault is fault


@pytest.mark.parametrize("cell", [-1, 8, 2**70, True, 1.0, "1", None])
def test_a_cell_that_the_list_does_not_have_is_refused(cell: Any) -> None:
    with pytest.raises(RefusedReportError) as refusal:
        read(LIST, [{**CELL, "cell": cell}])
    assert refusal.value.fault is ReportFault.ITEMS


def test_ids_that_begin_alike_are_different_ids() -> None:
    ids = [bytes(8) + i.to_bytes(8) for i in range(3)]
    assert ReportReader(LIST).ids([to_text(one) for one in ids]) == b"".join(ids)
    with pytest.raises(RefusedReportError) as refusal:
        ReportReader(LIST).ids([to_text(one) for one in [*ids, ids[1]]])
    assert refusal.value.fault is ReportFault.REPEATED_ID


def test_an_id_is_in_a_batch_once() -> None:
    with pytest.raises(RefusedReportError) as refusal:
        read(SHARP_LIST, [RECORD, QUERY, RECORD])
    assert refusal.value.fault is ReportFault.REPEATED_ID


@pytest.mark.parametrize("count", [0, 10_001])
def test_a_batch_has_one_to_ten_thousand_reports(count: int) -> None:
    texts = [to_text(i.to_bytes(16)) for i in range(count)]
    with pytest.raises(RefusedReportError) as refusal:
        ReportReader(LIST).ids(texts)
    assert refusal.value.fault is ReportFault.COUNT


def test_ten_thousand_reports_are_read_at_once() -> None:
    texts = [to_text(i.to_bytes(16)) for i in range(10_000)]
    assert ReportReader(LIST).ids(texts) == b"".join(i.to_bytes(16) for i in range(10_000))


def test_no_question_is_asked_that_the_list_does_not_ask() -> None:
    mechanism = SubsetSelectionMechanism(epsilon=1.0, query_share=0.0)
    only_records = HeadList(queries=LIST.queries, urls=LIST.urls, mechanism=mechanism, private=True)
    assert question_of(QUERY_ID, only_records) == "record"
    reader = ReportReader(only_records)
    with pytest.raises(RefusedReportError) as refusal:
        reader.subsets(QUERY_ID, ["query"], [QUERY["items"]])
    assert refusal.value.fault is ReportFault.QUESTION


@given(st.integers(1, 60), st.data())
def test_items_are_counted_as_they_are_listed(size: int, data: st.DataObject) -> None:
    packing = ItemPacking(size=size, subset_size=data.draw(st.integers(1, size)))
    chosen = data.draw(
        st.lists(
            st.sets(st.integers(0, size - 1), min_size=packing.subset_size).map(
                lambda found: tuple(sorted(found))[: packing.subset_size]
            ),
            min_size=1,
            max_size=5,
        )
    )
    rows = np.concatenate([packing.pack(table_of(one, packing.size)) for one in chosen])
    items, counts = packing.items(rows), packing.counts(rows)
    assert items is not None
    assert counts is not None
    assert [tuple(row) for row in items.tolist()] == chosen
    assert np.bincount(items.ravel(), minlength=size).tolist() == counts.tolist()


@given(st.lists(st.binary(min_size=5, max_size=5), min_size=1))
def test_texts_are_read_as_they_are_written(contents: list[bytes]) -> None:
    rows = rows_of_texts([to_text(one) for one in contents], 5)
    assert rows is not None
    assert rows.tobytes() == b"".join(contents)
