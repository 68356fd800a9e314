"""Reports drawn for many devices at once have the law of one device, and every one is well made."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from client.stand_in import LOCAL_ALG, SHARP, head_list

from blender_dp.client.crowd.many_reports import report_bodies
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import NotPrivateError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.reports.packed_items import pieces
from blender_dp.wire.reports.service_report import ID_BYTES, ReportReader
from exact_tests import assert_frequencies, assert_sample_catches

SMALL = head_list(queries=3)
DEVICES = 60_000
TRUE_CELL = 4


def reports_in(body: bytes) -> list[dict[str, Any]]:
    document = json.loads(body)
    shared = {name: document[name] for name in ("version", "head_list", "mechanism")}
    if "reports" in document:
        assert set(document) == {*shared, "reports"}
        return [{**shared, **report} for report in document["reports"]]
    return [document]


def items_named(listed: HeadList, cell: int, devices: int, seed: int) -> dict[str, Counter[int]]:
    """Count what devices that all hold one cell name, by question."""
    seeded = HeadList(
        queries=listed.queries, urls=listed.urls, mechanism=listed.mechanism, private=False
    )
    reader = ReportReader(seeded)
    named: dict[str, Counter[int]] = {"record": Counter(), "query": Counter()}
    cells = np.full(devices, cell)
    randomness = Randomness.seeded(seed)
    bodies = report_bodies(
        cells, seeded, randomness, batch=10_000, random_bytes=randomness.draw_bytes
    )
    for _, body in bodies:
        reports = reports_in(body)
        ids = reader.ids([report["report_id"] for report in reports])
        questions = [report["question"] for report in reports]
        for answer in reader.subsets(ids, questions, [report["items"] for report in reports]):
            named[answer.question].update(answer.items.ravel().tolist())
    return named


@pytest.mark.parametrize("mechanism", [SHARP, LOCAL_ALG], ids=["subset-selection", "local-alg"])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_every_device_sends_one_report_that_a_server_takes(batch: int, mechanism: Any) -> None:
    listed = head_list(queries=3, mechanism=mechanism)
    reader, seen = ReportReader(listed), Counter[bytes]()
    cells = np.arange(50) % listed.cells.cell_count
    for count, body in report_bodies(cells, listed, Randomness.secure(), batch=batch):
        reports = reports_in(body)
        assert len(reports) == count
        for report in reports:
            reader.require_shared(report["version"], report["head_list"], report["mechanism"])
        ids = reader.ids([report["report_id"] for report in reports])
        seen.update(pieces(ids, ID_BYTES))
        if mechanism.layout == "cell":
            reader.cells([report["cell"] for report in reports])
        else:
            questions, items = ([one[name] for one in reports] for name in ("question", "items"))
            reader.subsets(ids, questions, items)
    assert seen.total() == len(seen) == 50


def expected(mechanism: SubsetSelectionMechanism, question: Any) -> dict[int, float]:
    """Return how often one named item is each of the items: d are named in every report."""
    channel = mechanism.channels(SMALL.cells)[question]
    cells = SMALL.cells
    truth = TRUE_CELL if question == "record" else int(cells.query_of_cell[TRUE_CELL])
    d = channel.subset_size
    assert d == 1, "items of one report exclude each other: only then are they frequencies"
    return {
        item: float(channel.pin if item == truth else channel.pout) for item in range(channel.size)
    }


@pytest.mark.parametrize("question", ["record", "query"])
def test_what_is_named_follows_the_channel(question: str, seed: int) -> None:
    named = items_named(SMALL, TRUE_CELL, DEVICES, seed)
    assert_frequencies(named[question], expected(SHARP, question))


@pytest.mark.parametrize("question", ["record", "query"])
@pytest.mark.parametrize("error", [0.8, 1.25])
def test_a_wrong_epsilon_is_caught(question: str, error: float, seed: int) -> None:
    off = SubsetSelectionMechanism(epsilon=2.0 * error, query_share=0.25)
    named = items_named(head_list(queries=3, mechanism=off), TRUE_CELL, DEVICES, seed)
    assert_sample_catches(DEVICES // 5, expected(SHARP, question), expected(off, question))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(named[question], expected(SHARP, question))


def test_the_ids_ask_the_share_that_the_list_states(seed: int) -> None:
    named = items_named(SMALL, TRUE_CELL, DEVICES, seed)
    asked = Counter({question: counts.total() for question, counts in named.items()})
    assert_frequencies(asked, {"record": 0.75, "query": 0.25})


def test_local_alg_names_the_truth_as_often_as_it_must(seed: int) -> None:
    listed = head_list(queries=3, mechanism=LOCAL_ALG, private=False)
    channel = LocalAlgChannel.of(listed.cells, LOCAL_ALG)
    told: Counter[bool] = Counter()
    randomness = Randomness.seeded(seed)
    cells = np.full(DEVICES, TRUE_CELL)
    for _, body in report_bodies(cells, listed, randomness, batch=10_000):
        told.update(report["cell"] == TRUE_CELL for report in reports_in(body))
    query = int(listed.cells.query_of_cell[TRUE_CELL])
    truth = channel.query_threshold * channel.url_thresholds[query] / 2.0**128
    assert_frequencies(told, {True: truth, False: 1 - truth})


def test_secure_reports_go_to_lists_for_people_only() -> None:
    seeded = head_list(private=False)
    with pytest.raises(NotPrivateError):
        next(report_bodies(np.zeros(1, dtype=int), seeded, Randomness.secure(), batch=1))
