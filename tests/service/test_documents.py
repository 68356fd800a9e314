"""What a campaign publishes is the same for everybody, and enough to check all of it."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from core.small_result import small_result
from service.running import CONSENT, Published, Service, running, slug_of

from blender_dp.core.blender import finish
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.estimation.released_rows import query_rows, record_rows
from blender_dp.core.population import ReportingClients
from blender_dp.pages.outputs import run_document
from blender_dp.wire.documents.document import digest_of_bytes, write_document
from blender_dp.wire.published.certificate import read_certificate
from blender_dp.wire.published.estimates import read_clients, read_opt_in
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.published.release import read_release
from blender_dp.wire.service.campaign_promise import read_campaign_promise
from blender_dp.wire.service.hash_chain import require_chain
from blender_dp.wire.service.signatures import SignatureError
from blender_dp.wire.service.signed_head_list import read_signed_head_list
from blender_dp.wire.service.signed_log import read_log

pytestmark = pytest.mark.anyio
DOCUMENTS = ("release", "opt-in-estimates", "client-estimates", "certificate")


@pytest.fixture(scope="module")
async def released(service: Service) -> Published:
    campaign = await service.published()
    answer = await service.send(campaign.campaign, campaign.batch(400))
    assert answer.status_code == 202
    await service.moved(campaign.campaign, "seal-clients", "clients-open")
    await service.jobs_done()
    assert await service.state(campaign.campaign) == "released"
    return campaign


async def test_the_list_is_signed_and_logged_and_the_same_plain_or_packed(
    service: Service, released: Published
) -> None:
    path = f"/v1/campaigns/{released.campaign}/head-list"
    answer = await service.http.get(path, headers={"accept-encoding": "identity"})
    signed = read_signed_head_list(answer.json())
    entries, key = read_log((await service.http.get("/v1/log")).json())
    require_chain(entries)
    assert (signed.public_key, str(signed.campaign)) == (key, released.campaign)
    assert signed.log_entry in entries
    assert answer.headers["etag"] == f'"{signed.digest}"'
    packed = await service.http.get(path, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == answer.content


async def test_a_release_is_there_as_tables_and_as_a_page(
    service: Service, released: Published, tmp_path: Path
) -> None:
    path = f"/v1/campaigns/{released.campaign}"
    release = (await service.http.get(f"{path}/release")).json()
    columns = {
        "records": list(record_rows(small_result())),
        "queries": list(query_rows(small_result())),
    }
    for rows in ("records", "queries"):
        for form, read in ((".csv", pa.csv.read_csv), (".parquet", pa.parquet.read_table)):
            answer = await service.http.get(f"{path}/{rows}{form}")
            assert answer.headers["content-disposition"] == f'attachment; filename="{rows}{form}"'
            saved = tmp_path / f"{rows}{form}"
            saved.write_bytes(answer.content)
            table = read(saved)
            assert table.column_names == columns[rows]
            kinds = ["record", "query", "other_url", "other"]  # what is not listed comes last
            ordered = sorted(release[rows], key=lambda row: kinds.index(row["cell"]))
            assert table["probability"].to_pylist() == [row["probability"] for row in ordered]
    report = await service.http.get(f"{path}/report.html")
    assert report.headers["content-disposition"] == 'attachment; filename="report.html"'
    figures = figures_in(report.text)
    assert (figures["release"], figures["has_files"]) == (release, False)


async def test_the_page_of_a_release_has_what_a_run_writes(
    service: Service, released: Published
) -> None:
    path = f"/v1/campaigns/{released.campaign}"
    run = figures_in((await service.http.get(f"{path}/report.html")).text)["run"]
    of_a_run = run_document(small_result(), {}, created="", facts={})
    assert set(of_a_run) <= set(run)
    assert [promise["to"] for promise in run["promises"]] == ["120 opt-in users", "400 clients"]
    assert all(promise["sentence"] for promise in run["promises"])
    assert run["certificate"] == (await service.http.get(f"{path}/certificate")).json()
    assert run["software"]["blender-dp"] == version("blender-dp")
    campaign = (await service.http.get(path)).json()
    assert (run["title"], run["campaign"]["id"]) == (campaign["name"], released.campaign)


async def test_a_release_keeps_the_nouns_of_its_campaign(fresh: Service) -> None:
    campaign = await fresh.published(query_name="product", url_name="state")
    await fresh.send(campaign.campaign, campaign.batch(50))
    await fresh.moved(campaign.campaign, "seal-clients", "clients-open")
    await fresh.jobs_done()
    path = f"/v1/campaigns/{campaign.campaign}"
    names = {"query": "product", "url": "state"}
    assert (await fresh.http.get(f"{path}/release")).json()["names"] == names
    figures = figures_in((await fresh.http.get(f"{path}/report.html")).text)
    assert figures["run"]["names"] == names


def figures_in(page: str) -> dict[str, Any]:
    """Return what the page shows, as its own script reads it."""
    found = re.search(r'<script[^>]*id="figures"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    assert found
    figures: dict[str, Any] = json.loads(found[1])
    return figures


async def test_before_the_release_there_are_no_tables(service: Service) -> None:
    campaign = await service.created()
    for name in ("records.csv", "queries.parquet", "report.html"):
        answer = await service.http.get(f"/v1/campaigns/{campaign}/{name}")
        assert slug_of(answer) == "not-published"


async def test_the_list_is_bound_to_the_description_that_is_shown_and_logged(
    service: Service, released: Published
) -> None:
    path = f"/v1/campaigns/{released.campaign}"
    signed = read_signed_head_list((await service.http.get(f"{path}/head-list")).json())
    promise = read_campaign_promise((await service.http.get(path)).json())
    assert signed.description == promise.digest
    assert (promise.campaign, promise.consent_text) == (released.uuid, CONSENT)
    entries, _ = read_log((await service.http.get("/v1/log")).json())
    opened = [one for one in entries if one["kind"] == "campaign"]
    assert promise.digest in [one["digest"] for one in opened]
    assert opened[0]["index"] < signed.log_entry["index"]


async def test_what_a_client_has_already_is_not_sent_again(
    service: Service, released: Published
) -> None:
    for name in ("head-list", *DOCUMENTS):
        path = f"/v1/campaigns/{released.campaign}/{name}"
        etag = (await service.http.get(path)).headers["etag"]
        again = await service.http.get(path, headers={"if-none-match": etag})
        assert (again.status_code, again.content) == (304, b""), name
        assert "max-age" in again.headers["cache-control"]


async def test_the_files_of_a_release_are_those_of_a_run(
    service: Service, released: Published, tmp_path: Path
) -> None:
    path = f"/v1/campaigns/{released.campaign}"
    signed = (await service.http.get(f"{path}/head-list")).json()
    write_document(tmp_path / "head_list.json", signed["head_list"])
    for name in DOCUMENTS:
        document = (await service.http.get(f"{path}/{name}")).json()
        write_document(tmp_path / f"{name}.json", document)
    head_list = read_head_list(tmp_path / "head_list.json")
    curated = read_opt_in(tmp_path / "opt-in-estimates.json", head_list).estimate()
    counts = read_clients(tmp_path / "client-estimates.json", head_list)
    certificate = read_certificate(tmp_path / "certificate.json", head_list)
    release = read_release(tmp_path / "release.json")
    blended = finish(curated, ReportingClients(counts=counts, records_per_client=1)).blended
    certificate.require(require_kept(certify_curated(curated)))
    assert release.private
    assert release.client_users == 400
    shown = {row.query: row.probability for row in release.queries}
    again = dict(zip(head_list.queries, blended.queries.projected.tolist(), strict=False))
    assert {name: shown[name] for name in again} == pytest.approx(again)


async def test_a_release_is_in_the_public_log_by_the_digest_of_its_bytes(
    service: Service, released: Published
) -> None:
    content = (await service.http.get(f"/v1/campaigns/{released.campaign}/release")).content
    entries, _ = read_log((await service.http.get("/v1/log")).json())
    kinds = [e["kind"] for e in entries if e["campaign"] == released.campaign]
    assert kinds == ["campaign", "head-list", "release"]
    assert entries[-1]["digest"] == digest_of_bytes(content)


@pytest.mark.usefixtures("released")
async def test_the_log_can_be_read_from_an_entry_on(service: Service) -> None:
    entries, _ = read_log((await service.http.get("/v1/log")).json())
    tail, _ = read_log((await service.http.get("/v1/log?from=1")).json())
    assert tail == entries[1:]
    require_chain(tail, after=entries[0])
    end = (await service.http.get(f"/v1/log?from={len(entries)}")).json()
    nothing, _ = read_log(end, entries[-1])
    assert nothing == []


@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("chain", ["log", "audit-log"])
async def test_no_signature_says_that_a_log_with_entries_is_empty(
    service: Service, chain: str
) -> None:
    headers = service.as_role()
    log = (await service.http.get(f"/v1/{chain}", headers=headers)).json()
    end = await service.http.get(f"/v1/{chain}?from={len(log['entries'])}", headers=headers)
    with pytest.raises(SignatureError):
        read_log(end.json())
    for beyond in (1, 10_000):
        start = len(log["entries"]) + beyond
        answer = await service.http.get(f"/v1/{chain}?from={start}", headers=headers)
        assert slug_of(answer) == "request-not-understood"
        assert answer.json()["where"] == "from"


async def test_nothing_is_published_before_its_time(service: Service) -> None:
    campaign = await service.created()
    for name in ("head-list", *DOCUMENTS):
        answer = await service.http.get(f"/v1/campaigns/{campaign}/{name}")
        assert (answer.status_code, json.loads(answer.content)["type"].rpartition(":")[2]) == (
            404,
            "not-published",
        )


async def test_a_restart_changes_no_published_byte(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        published = await first.published(users=60, parameters={"epsilon": 3, "delta": 1e-2})
        path = f"/v1/campaigns/{published.campaign}/head-list"
        before = (await first.http.get(path)).content
        report = published.report()
        assert (await first.send(published.campaign, report)).json()["accepted"] == 1
    async with running(tmp_path) as second:
        assert (await second.http.get(path)).content == before
        assert (await second.send(published.campaign, report)).json()["repeated"] == 1
