"""A mechanism that only the tests know works everywhere: registering it is all that it takes."""

import asyncio
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from service.running import running
from third_mechanism import KaryMechanism, register

from blender_dp.audit.targets import device_targets, own_list
from blender_dp.cli.application import app
from blender_dp.client.crowd.many_reports import report_bodies
from blender_dp.core.blender import blender
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.certificate.promises import promises
from blender_dp.core.channels.report_cost import report_cost
from blender_dp.core.errors import InputError, UnknownReportError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import ReportCounts
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation
from blender_dp.evaluation.trials.counted_reports import all_at_once
from blender_dp.wire.published.estimates import client_document, clients_in
from blender_dp.wire.published.head_list import head_list_document, head_list_in
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.report import count_reports, report_document
from blender_dp.wire.reports.service_report import RefusedReportError, ReportReader
from logs import popular_rows, write_csv

PROMISE = ("--epsilon=4", "--delta=1e-2", "--yes")
LIST = HeadList.of(
    [Record(f"query {q}", f"{q}.example") for q in range(4)],
    mechanism=KaryMechanism(epsilon=4.0),
    private=False,
)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def test_a_list_names_it_and_is_read_back() -> None:
    document = head_list_document(LIST)
    assert document["mechanism"] == {"name": "k-ary", "version": 1, "epsilon": "4.0"}
    assert head_list_in("here", document) == LIST


def test_a_run_counts_estimates_and_certifies_it() -> None:
    """At ε = 40 a client lies once in 10^15 reports: the estimates are the shares, but for that."""
    rows = [LogRow(user, query, url) for user, query, url in popular_rows(1000)]
    randomness = Randomness.seeded(1)
    population = MemoryPopulation.of(rows, randomness, opt_in=0.5)
    result = blender(population, Parameters(epsilon=40.0, delta=1e-2), randomness)
    head_list, clients = result.head_list, population.clients
    assert head_list.mechanism == KaryMechanism(epsilon=40.0)
    true = clients.true_counts(head_list)["record"]
    assert result.clients.counts.tolist() == true.tolist()
    assert result.clients.cells.probability == pytest.approx(true / clients.size, abs=1e-12)
    certificate = certify_curated(result.curated)
    assert certificate.is_kept
    [part] = certificate.accounts[-1].parts
    assert part.epsilon is not None
    assert Fraction(39) < part.epsilon <= 40
    assert promises(result)[-1].delta == 0


def test_what_a_device_debits_is_its_privacy_cost() -> None:
    assert Fraction(39, 10) < report_cost(LIST) <= 4


def test_every_command_takes_it(tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", popular_rows(2000))
    curated, out = tmp_path / "curated", tmp_path / "out"
    listed = str(curated / "head_list.json")
    app(["run", str(log), *PROMISE, "--opt-in=0.5", "-o", str(tmp_path / "run")])
    app(["certify", str(tmp_path / "run")])
    app(["head-list", str(log), *PROMISE, "-o", str(curated)])
    for kind in ("jsonl", "parquet"):
        reports, counts = tmp_path / f"reports.{kind}", tmp_path / f"{kind}.json"
        app(["privatize", listed, str(log), "-o", str(reports)])
        app(["estimate", listed, str(reports), "-o", str(counts)])
        document = json.loads(counts.read_text(encoding="utf-8"))
        assert (document["reports"], sum(document["report_counts"])) == (2000, 2000)
    estimates = [str(curated / "opt_in_estimates.json"), str(tmp_path / "jsonl.json")]
    app(["blend", listed, *estimates, "-o", str(out)])
    made = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert made["users"] == {"opt_in": 2000, "clients": 2000}


def test_a_question_that_it_does_not_ask_is_refused(tmp_path: Path) -> None:
    device = LocalRandomizer(LIST, randomness=Randomness.seeded(2))
    report = report_document(LIST, device.report("query 1", "1.example"))
    path = tmp_path / "reports.jsonl"
    path.write_text(json.dumps({**report, "question": "query"}) + "\n", encoding="utf-8")
    with pytest.raises(UnknownReportError, match="question must be record"):
        count_reports(path, LIST)
    reader, report_id = ReportReader(LIST), to_text(bytes(16))
    with pytest.raises(RefusedReportError, match="question must be one that"):
        reader.subset(report_id, "query", report["items"])
    _, unread = reader.subset(report_id, "record", report["items"])
    [answer], wrong = reader.singles([unread])
    assert (answer.items.shape, len(wrong)) == ((1, 1), 0)


@pytest.mark.parametrize("named", [0, 3])
def test_counts_of_a_question_that_it_does_not_ask_are_refused(named: int) -> None:
    cells = LIST.cells
    counts = ReportCounts.one_cell_each(np.arange(cells.cell_count), cells)
    document = client_document(LIST, counts)
    assert clients_in("here", document, LIST).cell_reports == counts.cell_reports
    queries = np.full(cells.query_count, named)
    document = client_document(LIST, replace(counts, queries=queries, query_reports=3))
    with pytest.raises(InputError, match="query_report_counts: must be what 3 reports can name"):
        clients_in("here", document, LIST)


def test_a_service_collects_and_releases_it(tmp_path: Path) -> None:
    async def campaign() -> dict[str, object]:
        async with running(tmp_path) as service:
            published = await service.published()
            assert published.head_list.mechanism == KaryMechanism(epsilon=4.0)
            cells = np.arange(60) % published.head_list.cells.cell_count
            for batch in (1, 25):
                for _, body in report_bodies(
                    cells, published.head_list, Randomness.secure(), batch=batch
                ):
                    answer = await service.send(published.campaign, json.loads(body))
                    assert answer.status_code == 202, answer.text
            await service.moved(published.campaign, "seal-clients", "clients-open")
            await service.jobs_done()
            assert await service.state(published.campaign) == "released"
            path = f"/v1/campaigns/{published.campaign}/client-estimates"
            found: dict[str, object] = (await service.http.get(path)).json()
            return found

    released = asyncio.run(campaign())
    assert (released["reports"], released["query_reports"]) == (120, 0)


def test_evaluations_and_audits_fall_back_on_the_device() -> None:
    channel = LIST.mechanism.channels(LIST.cells)["record"]
    true = np.arange(channel.size)
    drawn = all_at_once(np.random.default_rng(4))(true, channel)
    assert drawn.sum() == true.sum()
    targets = device_targets(own_list(KaryMechanism(epsilon=1.0), private=False))
    assert [target.name for target in targets] == ["k-ary, many at once", "k-ary, one device"]
    for target in targets:
        for attack in target.attacks:
            assert attack.draw(20, Randomness.seeded(5), is_swapped=True).sum() == 20
