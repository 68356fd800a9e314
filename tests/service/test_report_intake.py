"""From bytes to reports: what is counted is what was named, and nothing else gets in."""

import json
import os
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.server.problems import Problem, ProblemError, of_fault
from blender_dp.service.http.reports.checked_reports import TAG_BYTES
from blender_dp.service.http.reports.intake import ReportIntake
from blender_dp.service.problems import of_store
from blender_dp.service.storage.store import Reason
from blender_dp.wire.reports.packed_items import from_text, pieces, to_text
from blender_dp.wire.reports.report import codec_of
from blender_dp.wire.reports.service_report import (
    ReportFault,
    batch_document,
    question_of,
    service_report_document,
)

KEY = bytes(range(32))
BATCH_FIELDS = ("report_id", "question", "items", "cell")
QUERIES = tuple(f"query {i:02}" for i in range(40))
URLS = tuple((f"a{i}.example", f"b{i}.example") for i in range(40))
SUBSET = HeadList(
    queries=QUERIES,
    urls=URLS,
    mechanism=SubsetSelectionMechanism(epsilon=1.0, query_share=0.3),
    private=True,
)
LOCAL_ALG = HeadList(
    queries=QUERIES,
    urls=URLS,
    mechanism=LocalAlgMechanism(
        epsilon=2.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
    ),
    private=True,
)
LISTS = {"subset selection": SUBSET, "LocalAlg": LOCAL_ALG}


def a_report(head_list: HeadList, report_id: bytes | None = None) -> tuple[dict[str, Any], Any]:
    name = report_id or os.urandom(16)
    report = LocalRandomizer(head_list, campaign_id=name).report("query 01", "a1.example")
    return service_report_document(head_list, name, report), report


@pytest.mark.parametrize("name", LISTS)
def test_what_is_read_is_what_the_device_named(name: str) -> None:
    head_list = LISTS[name]
    ids = [os.urandom(16) for _ in range(50)]
    made = [a_report(head_list, report_id) for report_id in ids]
    kept = [{k: v for k, v in document.items() if k in BATCH_FIELDS} for document, _ in made]
    body = json.dumps(batch_document(head_list, kept)).encode()
    checked = ReportIntake(head_list, KEY).check(body)
    named: dict[int, tuple[str, tuple[int, ...]]] = {}
    for answer in checked.answers:
        for position, items in zip(answer.reports, answer.items, strict=True):
            named[int(position)] = (answer.question, tuple(items.tolist()))
    assert named == {i: (report.question, report.items) for i, (_, report) in enumerate(made)}
    assert len(checked) == 50
    assert checked.ids == b"".join(ids)
    assert len(checked.tags) == 50 * TAG_BYTES


@pytest.mark.parametrize("name", LISTS)
def test_alone_or_in_a_batch_a_report_has_the_same_tag(name: str) -> None:
    head_list, intake = LISTS[name], ReportIntake(LISTS[name], KEY)
    document, _ = a_report(head_list)
    fields = {k: v for k, v in document.items() if k in BATCH_FIELDS}
    alone = intake.check(json.dumps(document).encode())
    together = intake.check(json.dumps(batch_document(head_list, [fields])).encode())
    assert alone.tags == together.tags
    assert len(alone.tags) == TAG_BYTES
    assert (
        ReportIntake(head_list, bytes(32)).check(json.dumps(document).encode()).tags != alone.tags
    )


@pytest.mark.parametrize("name", LISTS)
def test_bodies_that_are_checked_together_have_the_outcome_that_they_have_alone(name: str) -> None:
    head_list = LISTS[name]
    intake = ReportIntake(head_list, KEY)
    good = [a_report(head_list)[0] for _ in range(30)]
    batch = batch_document(
        head_list, [{k: v for k, v in good[0].items() if k in BATCH_FIELDS} for _ in range(1)]
    )
    beyond = {"items": "_" * len(good[0].get("items", "")), "cell": head_list.cells.cell_count}
    wrong = [
        {**good[1], **{k: v for k, v in beyond.items() if k in good[1]}},
        {**good[2], "version": 2},
        {**good[3], "report_id": "short"},
        {k: v for k, v in good[4].items() if k != "report_id"},
        {**good[5], "reports": []},
        batch,
    ]
    documents = [*good[:10], *wrong[:3], *good[10:20], *wrong[3:], *good[20:]]
    bodies = [json.dumps(document).encode() for document in documents]
    together = intake.check_each([*bodies, b""])
    singles, others = together.singles, dict(together.others)
    assert singles.are_singles
    assert isinstance(others.pop(len(bodies)), ProblemError)
    named = {}
    for answer in singles.answers:
        for place, items in zip(answer.reports.tolist(), answer.items.tolist(), strict=True):
            named[place] = (answer.question, items)
    place = 0
    for at, (document, body) in enumerate(zip(documents, bodies, strict=True)):
        if document in wrong and document is not batch:
            found = others.pop(at)
            assert isinstance(found, ProblemError)
            with pytest.raises(ProblemError) as refused:
                intake.check(body)
            assert found.problem is refused.value.problem
            continue
        alone = intake.check(body)
        assert not alone.are_singles
        if document is batch:
            found = others.pop(at)
            assert not isinstance(found, ProblemError)
            assert (found.ids, found.tags, found.are_singles) == (alone.ids, alone.tags, False)
            continue
        [answer] = alone.answers
        assert named.pop(place) == (answer.question, answer.items[0].tolist())
        assert singles.ids[16 * place :][:16] == alone.ids
        assert singles.tags[TAG_BYTES * place :][:TAG_BYTES] == alone.tags
        place += 1
    assert (place, named, others) == (len(singles), {}, {})
    assert len(singles) == 30


def test_tags_of_different_contents_differ() -> None:
    intake, tags = ReportIntake(LOCAL_ALG, KEY), set()
    for cell in range(LOCAL_ALG.cells.cell_count):
        document, _ = a_report(LOCAL_ALG, bytes(16))
        tags.add(intake.check(json.dumps({**document, "cell": cell}).encode()).tags)
    assert len(tags) == LOCAL_ALG.cells.cell_count


@pytest.mark.parametrize("name", LISTS)
def test_tags_of_equal_contents_differ(name: str) -> None:
    """Otherwise whoever reads the database sees which reports say the same."""
    head_list = LISTS[name]
    document, report = a_report(head_list)
    drawn = [os.urandom(16) for _ in range(300)]
    ids = [one for one in drawn if question_of(one, head_list) == report.question]
    told = {k: v for k, v in document.items() if k in BATCH_FIELDS}
    same = [{**told, "report_id": to_text(report_id)} for report_id in ids]
    checked = ReportIntake(head_list, KEY).check(
        json.dumps(batch_document(head_list, same)).encode()
    )
    assert len(ids) > 1
    assert len(set(pieces(checked.tags, TAG_BYTES))) == len(ids)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("place", ["first", "last", "in a batch", "of a batch"])
def test_a_key_that_comes_twice_is_seen_wherever_it_is(name: str, place: str) -> None:
    head_list = LISTS[name]
    document, _ = a_report(head_list)
    fields = {k: v for k, v in document.items() if k in BATCH_FIELDS}
    whole = document if place in ("first", "last") else batch_document(head_list, [fields])
    text = json.dumps(whole)
    again = f'"report_id": "{document["report_id"]}"' if place == "in a batch" else '"version": 1'
    spelled = {
        "first": text.replace("{", "{" + again + ", ", 1),
        "last": text[:-1] + ", " + again + "}",
        "in a batch": text.replace("[{", "[{" + again + ", ", 1),
        "of a batch": text[:-1] + ", " + again + "}",
    }[place]
    assert spelled != text
    with pytest.raises(ProblemError) as refused:
        ReportIntake(head_list, KEY).check(spelled.encode())
    assert refused.value.problem is Problem.DUPLICATE_KEY


@given(st.binary(max_size=200))
def test_no_bytes_whatever_do_anything_but_be_refused(body: bytes) -> None:
    for head_list in LISTS.values():
        with pytest.raises(ProblemError):
            ReportIntake(head_list, KEY).check(body)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner),
    max_leaves=8,
)
FIELDS = ("version", "head_list", "mechanism", "report_id", "question", "items", "cell", "reports")


@given(st.sampled_from(FIELDS), JSON_VALUES)
def test_no_field_takes_a_value_of_its_own_choice(field: str, value: object) -> None:
    document, _ = a_report(SUBSET, bytes(16))
    if document.get(field, object()) == value:
        return
    body = json.dumps({**document, field: value}).encode("utf-8", "surrogatepass")
    with pytest.raises(ProblemError):
        ReportIntake(SUBSET, KEY).check(body)


def test_every_subset_of_the_right_size_is_taken_and_no_other() -> None:
    """Exhaustively over one-bit changes of an honest report."""
    intake = ReportIntake(SUBSET, KEY)
    document, report = a_report(SUBSET)
    packing = codec_of(SUBSET).packings(SUBSET)[report.question]
    packed = from_text(document["items"], packing.length)
    assert packed is not None
    taken = 0
    for bit in range(8 * packing.length):
        changed = bytearray(packed)
        changed[bit // 8] ^= 128 >> bit % 8
        body = json.dumps({**document, "items": to_text(bytes(changed))}).encode()
        valid = packing.items(np.frombuffer(bytes(changed), dtype=np.uint8).reshape(1, -1))
        if valid is None:
            with pytest.raises(ProblemError):
                intake.check(body)
        else:
            taken += 1
            assert intake.check(body).answers[0].items.tolist() == valid.tolist()
    assert taken < 8 * packing.length


@pytest.mark.parametrize("fault", ReportFault)
def test_every_fault_of_a_report_is_a_problem_of_the_same_name(fault: ReportFault) -> None:
    assert of_fault(fault).problem.kind.slug == fault


@pytest.mark.parametrize("reason", Reason)
def test_every_refusal_of_the_store_is_a_problem(reason: Reason) -> None:
    error = of_store(reason)
    # A lost lease is the business of workers; a route that meets it has a bug.
    assert (error.problem is Problem.INTERNAL_ERROR) == (reason is Reason.LEASE_LOST)
    assert ("retry-after" in error.headers) == (reason is Reason.OVERLOADED)
    assert msgspec.json.decode(msgspec.json.encode(error.document()))["status"] >= 400
