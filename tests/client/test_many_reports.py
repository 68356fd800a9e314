"""Reports drawn for many devices at once have the law of one device, and every one is well made."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from client.stand_in import (
    CAMPAIGN,
    DECRYPTION_KEY,
    LOCAL_ALG,
    RELAYED,
    SHARP,
    StandIn,
    head_list,
    relay_at,
)

from blender_dp.client.crowd.many_reports import relayed_bodies, report_bodies
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import BrokenInvariantError, NotPrivateError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.relayed.encrypted_report import RelayedReport, ReportEncryption
from blender_dp.wire.reports.packed_items import from_text, pieces
from blender_dp.wire.reports.service_report import ID_BYTES, ReportReader
from blender_dp.wire.service.signed_head_list import SignedHeadList, read_signed_head_list
from exact_tests import assert_frequencies, assert_sample_catches

SMALL = head_list(queries=3)
DEVICES = 60_000
RELAY_CLIENTS = 8_000
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


def relayed_signed(report_epsilon: float, *, private: bool = True) -> SignedHeadList:
    mechanism = replace(RELAYED, report_epsilon=report_epsilon)
    listed = replace(head_list(queries=3, private=private), relay=mechanism)
    service = StandIn()
    service.publish(listed, relay=relay_at())
    return read_signed_head_list(service.lists[CAMPAIGN])


def cells_in(body: bytes, signed: SignedHeadList) -> list[RelayedReport]:
    """Read relayed reports as the collector does."""
    document = json.loads(body)
    assert (document["version"], document["head_list"]) == (1, signed.digest)
    texts = document.get("reports") or [document["report"]]
    encryption = ReportEncryption(signed.head_list, campaign=CAMPAIGN, digest=signed.digest)
    encrypted = [from_text(text, encryption.length) for text in texts]
    return [encryption.decrypt(one or b"", DECRYPTION_KEY) for one in encrypted]


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_every_relay_client_sends_one_report_that_the_collector_reads(batch: int) -> None:
    """With ε0 = 40 a report lies with probability 9·e^-40 < 10⁻¹⁶."""
    signed = relayed_signed(40.0)
    cells = np.arange(50) % signed.head_list.cells.cell_count
    reports, bodies = [], relayed_bodies(cells, signed, Randomness.secure(), batch=batch)
    for count, body in bodies:
        assert ("reports" in json.loads(body)) == (batch > 1)
        some = cells_in(body, signed)
        assert len(some) == count
        reports += some
    assert [report.cell for report in reports] == cells.tolist()
    assert len({report.report_id for report in reports}) == 50


def relayed_frequencies(report_epsilon: float) -> dict[int, float]:
    mechanism = replace(RELAYED, report_epsilon=report_epsilon)
    channel = mechanism.channel(SMALL.cells)
    pin, pout = float(channel.pin), float(channel.pout)
    return {cell: pin if cell == TRUE_CELL else pout for cell in range(channel.size)}


def relayed_cells(report_epsilon: float, seed: int) -> Counter[int]:
    signed = relayed_signed(report_epsilon, private=False)
    cells, randomness = np.full(RELAY_CLIENTS, TRUE_CELL), Randomness.seeded(seed)
    bodies = relayed_bodies(cells, signed, randomness, batch=10_000)
    return Counter(report.cell for _, body in bodies for report in cells_in(body, signed))


def test_what_relay_clients_name_follows_their_channel(seed: int) -> None:
    assert_frequencies(relayed_cells(2.0, seed), relayed_frequencies(2.0))


@pytest.mark.parametrize("error", [0.75, 1.35])
def test_a_wrong_epsilon0_is_caught(error: float, seed: int) -> None:
    expected_here, wrong = relayed_frequencies(2.0), relayed_frequencies(2.0 * error)
    assert_sample_catches(RELAY_CLIENTS, expected_here, wrong)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(relayed_cells(2.0 * error, seed), expected_here)


def test_secure_relayed_reports_go_to_lists_for_people_only() -> None:
    signed = relayed_signed(2.0, private=False)
    with pytest.raises(NotPrivateError):
        next(relayed_bodies(np.zeros(1, dtype=int), signed, Randomness.secure(), batch=1))


def test_a_list_without_a_relay_gets_no_relayed_reports() -> None:
    signed = read_signed_head_list(StandIn().lists[CAMPAIGN])
    with pytest.raises(BrokenInvariantError, match="no relay"):
        next(relayed_bodies(np.zeros(1, dtype=int), signed, Randomness.secure(), batch=1))


def test_secure_reports_go_to_lists_for_people_only() -> None:
    seeded = head_list(private=False)
    with pytest.raises(NotPrivateError):
        next(report_bodies(np.zeros(1, dtype=int), seeded, Randomness.secure(), batch=1))
