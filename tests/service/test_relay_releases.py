"""A release with a relay: it waits, counts each valid report once, and says what became of all."""

import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow.csv
import pytest
from service.relays import LEAST_BATCH, RelayedCampaign, relayed_campaign
from service.running import Service

from blender_dp.cli.certify import certify
from blender_dp.cli.download import write_released
from blender_dp.cli.released_report import render_released
from blender_dp.client.released import ReleasedFiles, fetch_released
from blender_dp.client.transport import Answer
from blender_dp.core.certificate.promises import promises
from blender_dp.core.channels.report import Question
from blender_dp.core.errors import BlenderError, InputError
from blender_dp.service.jobs import relayed
from blender_dp.service.keys.key_vault import KeyDestroyedError, relayed_reports_key
from blender_dp.service.storage.store import Document
from blender_dp.wire.documents.document import canonical, with_digest
from blender_dp.wire.published.certificate import attached_certificate

pytestmark = pytest.mark.anyio
HOUR = 3600.0
Happening = Callable[[RelayedCampaign], Awaitable[None]]


async def document_of(campaign: RelayedCampaign, name: str) -> dict[str, Any]:
    answer = await campaign.service.http.get(f"/v1/campaigns/{campaign.id}/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def jobs_of(campaign: RelayedCampaign) -> list[tuple[str, str, int]]:
    jobs = (await campaign.service.progress(campaign.id))["jobs"]
    return [(job["kind"], job["state"], job["attempts"]) for job in jobs if job["kind"] != "erase"]


async def test_a_release_waits_for_the_batch_and_no_attempt_fails(service: Service) -> None:
    campaign = await relayed_campaign(service)
    for _ in range(10):
        await service.jobs_done()
        service.clock.pass_by(60)
    assert (await jobs_of(campaign))[-1] == ("release", "waiting", 0)
    reports = campaign.honest(80)
    bodies = campaign.batch(reports, pieces=2).bodies()
    assert (await campaign.send(bodies[0])).status_code == 202
    await service.jobs_done()
    assert (await jobs_of(campaign))[-1] == ("release", "waiting", 0)
    assert (await campaign.send(bodies[1])).json()["complete"]
    release = await campaign.released()
    assert (await jobs_of(campaign))[-1] == ("release", "done", 1)
    assert release["users"] == {"opt_in": 120, "clients": 30, "relay_clients": 80}
    batch = release["relay_batch"]
    assert batch["sentence"] == (
        "The relay passed on 80 reports: 80 are counted and 0 were refused."
    )
    assert (batch["outcome"], batch["received"], batch["counted"]) == ("counted", 80, 80)
    shown = await campaign.shown()
    assert (shown["state"], shown["counted"], shown["complete"]) == ("counted", 80, True)
    assert shown["pieces_received"] == []
    assert (await campaign.send(bodies[1])).json()["complete"], "a relay that was killed asks again"
    with pytest.raises(KeyDestroyedError):
        relayed_reports_key(service.dependencies.keys, UUID(campaign.id))


async def test_each_id_counts_once_and_what_is_not_valid_is_refused(service: Service) -> None:
    campaign = await relayed_campaign(service)
    other = await relayed_campaign(service, clients=2)
    cells = campaign.signed.head_list.cells.cell_count
    valid = [campaign.encrypted(number % cells) for number in range(LEAST_BATCH)]
    same_id = [campaign.encrypted(cell, b"the same report!") for cell in (0, 1, 0)]
    foreign = [other.encrypted(0) for _ in range(4)]
    changed = [valid[0][:-1] + bytes([valid[0][-1] ^ 1])]
    repeated = [valid[3], valid[3]]
    await campaign.sent([*foreign, *valid, *same_id, *changed, *repeated], pieces=3)
    release = await campaign.released()
    assert release["relay_batch"]["refused"] == {
        "not-for-this-list": len(foreign) + len(changed),
        "repeated-report-id": 2 + len(repeated),
    }
    assert release["relay_batch"]["counted"] == LEAST_BATCH + 1
    counts = (await document_of(campaign, "relay-estimates"))["report_counts"]
    expected = np.bincount([number % cells for number in range(LEAST_BATCH)], minlength=cells)
    expected[0] += 1  # the first of the three with one id
    assert counts == expected.tolist()


async def test_a_twin_that_counts_duplicates_is_caught(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relayed._OpenedReports, "first_of_each_id", lambda self: self)
    with pytest.raises(AssertionError):
        await test_each_id_counts_once_and_what_is_not_valid_is_refused(service)


async def test_an_id_of_a_direct_report_counts_once(service: Service) -> None:
    campaign = await relayed_campaign(service, is_sealed=False)
    published = await service.published_list(campaign.id)
    name = b"in both groups!!"
    assert (await service.send(campaign.id, published.report(name))).status_code == 202
    await service.moved(campaign.id, "seal-clients", "clients-open")
    await campaign.sent([*campaign.honest(LEAST_BATCH), campaign.encrypted(0, name)])
    batch = (await campaign.released())["relay_batch"]
    assert (batch["counted"], batch["refused"]) == (LEAST_BATCH, {"repeated-report-id": 1})


async def test_a_release_goes_on_without_a_batch_that_does_not_come(service: Service) -> None:
    campaign = await relayed_campaign(service, rules={"relay_wait_hours": 3})
    bodies = campaign.batch(campaign.honest(80), pieces=2).bodies()
    await campaign.send(bodies[0])
    service.clock.pass_by(2.9 * HOUR)
    await service.jobs_done()
    assert (await jobs_of(campaign))[-1][1] == "waiting"
    service.clock.pass_by(0.2 * HOUR)
    release = await campaign.released()
    assert release["relay_batch"]["outcome"] == "absent"
    assert release["relay_batch"]["sentence"].startswith("No whole batch of the relay arrived")
    assert release["users"] == {"opt_in": 120, "clients": 30}
    assert "relay_probability" not in release["records"][0]
    assert (await campaign.shown())["state"] == "absent"
    assert (await campaign.send(bodies[1])).status_code == 409
    await downloaded(campaign)


async def test_a_release_says_that_the_relay_destroyed_its_reports(service: Service) -> None:
    campaign = await relayed_campaign(service)
    assert (await campaign.send(campaign.destroyed(12))).status_code == 202
    release = await campaign.released()
    batch = release["relay_batch"]
    assert (batch["outcome"], batch["stated"], batch["received"]) == ("destroyed", 12, 0)
    assert "destroyed the 12 reports" in batch["sentence"]
    assert (await campaign.shown())["state"] == "destroyed"
    await downloaded(campaign)


async def test_a_batch_with_too_few_valid_reports_is_not_used(
    service: Service, tmp_path: Path
) -> None:
    campaign = await relayed_campaign(service)
    other = await relayed_campaign(service, clients=2)
    foreign = [other.encrypted(0) for _ in range(5)]
    await campaign.sent([*campaign.honest(LEAST_BATCH - 1), *foreign])
    release = await campaign.released()
    batch = release["relay_batch"]
    assert (batch["outcome"], batch["received"], batch["counted"]) == ("too-few", 64, 0)
    assert "of which 59 are valid" in batch["sentence"]
    assert "may have ε0 only" in batch["sentence"]
    certificate = release["certificate"]
    assert certificate["relay_batch"] == "too-few"
    assert [one["to"] for one in certificate["accounts"] if one["model"] == "relay"] == [
        "relay clients, if relay and collector collude"
    ]
    assert certificate["sentence"].startswith(
        "Every promise is kept, except one to the relay clients"
    )
    assert await document_of(campaign, "certificate") == certificate
    released = await downloaded(campaign)
    write_released(tmp_path, released, UUID(campaign.id))
    certify(tmp_path)  # exits unless all files state the certificate that is computed again
    release["relay_batch"]["outcome"] = "counted"
    (tmp_path / "release.json").write_bytes(canonical(release))
    with pytest.raises(InputError, match="outcome"):
        certify(tmp_path)
    assert release["users"] == {"opt_in": 120, "clients": 30}
    assert (await document_of(campaign, "relay-estimates"))["report_counts"] is None


async def test_relay_clients_alone_are_enough_for_a_release(service: Service) -> None:
    campaign = await relayed_campaign(service, clients=0)
    await campaign.sent(campaign.honest(LEAST_BATCH))
    release = await campaign.released()
    assert release["users"] == {"opt_in": 120, "clients": 0, "relay_clients": LEAST_BATCH}
    await downloaded(campaign)


@pytest.mark.parametrize("question", ["record", "query"])
async def test_a_single_local_report_does_not_prevent_a_release(
    service: Service, question: Question
) -> None:
    campaign = await relayed_campaign(service, clients=0, is_sealed=False)
    published = await service.published_list(campaign.id)
    single = published.report_on_a(question)
    assert (await service.send(campaign.id, single)).status_code == 202
    await service.moved(campaign.id, "seal-clients", "clients-open")
    await campaign.sent(campaign.honest(LEAST_BATCH))
    release = await campaign.released()
    assert release["users"] == {"opt_in": 120, "clients": 1, "relay_clients": LEAST_BATCH}
    await downloaded(campaign)


class _Fetched:
    """A client's connection that reads what was fetched before."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self._contents = contents

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        assert (method, body, token) == ("GET", None, None)
        return Answer(status=200, content=self._contents[path])


async def downloaded(campaign: RelayedCampaign, **changed: bytes) -> ReleasedFiles:
    """Check a release as ``download`` does: everything is computed again."""
    http, below = campaign.service.http, f"campaigns/{campaign.id}"
    names = ("head-list", "opt-in-estimates", "client-estimates", "relay-estimates")
    paths = [f"{below}/{name}" for name in (*names, "certificate", "release")]
    contents = {path: (await http.get(f"/v1/{path}")).content for path in paths}
    start, is_more = 0, True
    while is_more:
        log = await http.get(f"/v1/log?from={start}")
        contents[f"log?from={start}"] = log.content
        start, is_more = start + len(log.json()["entries"]), bool(log.json()["entries"])
    contents |= {f"{below}/{name.replace('_', '-')}": new for name, new in changed.items()}
    return fetch_released(_Fetched(contents), UUID(campaign.id))


async def test_a_download_blends_all_three_groups_again(service: Service) -> None:
    campaign = await relayed_campaign(service)
    await campaign.sent(campaign.honest(90), pieces=2)
    release = await campaign.released()
    released = await downloaded(campaign)
    assert (released.result.client_users, released.result.relay_users) == (30, 90)
    for name in ("relay_probability", "relay_weight", "relay_std_error", "relay_report_count"):
        assert name in release["records"][0]
    certificate = await document_of(campaign, "certificate")
    assert [account["model"] for account in certificate["accounts"]].count("relay") == 2
    assert certificate["verdict"] == "kept"
    table = await service.http.get(f"/v1/campaigns/{campaign.id}/records.csv")
    read = pyarrow.csv.read_csv(io.BytesIO(table.content))
    assert sum(read.column("relay_report_count").to_pylist()) == 90
    store = service.dependencies.store
    contents = {kind: await store.document(UUID(campaign.id), kind) for kind in Document}
    documents = {kind: json.loads(content or b"{}") for kind, content in contents.items()}
    page = render_released(await store.campaign(UUID(campaign.id)), documents)
    assert "relay clients" in page
    assert "The relay passed on 90 reports" in page


async def _destroyed(campaign: RelayedCampaign) -> None:
    await campaign.send(campaign.destroyed(12))


async def _nothing(campaign: RelayedCampaign) -> None:
    await campaign.send(campaign.destroyed(0))


async def _hoarded(campaign: RelayedCampaign) -> None:
    await campaign.send(campaign.destroyed(LEAST_BATCH))


async def _absent(campaign: RelayedCampaign) -> None:
    campaign.service.clock.pass_by(49 * HOUR)


@pytest.mark.parametrize(
    ("happens", "sentence"),
    [
        (
            _destroyed,
            "The relay destroyed the 12 reports that it had, which were too few to hide each "
            "other, so no relay client is in the result.",
        ),
        (_nothing, "No report came to the relay, so no relay client is in the result."),
        (
            _hoarded,
            f"The relay destroyed the {LEAST_BATCH} reports that it had, though they were enough "
            "for a batch, so no relay client is in the result.",
        ),
        (
            _absent,
            "No whole batch of the relay arrived in time, so no relay client is in the result.",
        ),
    ],
)
async def test_nothing_is_promised_to_relay_clients_who_are_not_in_the_result(
    service: Service, tmp_path: Path, happens: Happening, sentence: str
) -> None:
    campaign = await relayed_campaign(service)
    await happens(campaign)
    assert (await campaign.released())["relay_batch"]["sentence"] == sentence
    released = await downloaded(campaign)
    assert [one.model for one in promises(released.result)] == ["trusted curator", "local"]
    write_released(tmp_path, released, UUID(campaign.id))
    page = (tmp_path / "report.html").read_text()
    assert sentence in page
    assert "0 relay clients" not in page
    for name in ("run.json", "release.json"):
        stated = attached_certificate(tmp_path / name, released.result.head_list)
        stated.require(released.certificate)


@pytest.mark.parametrize("field", ["report_counts", "received", "statement"])
async def test_a_download_refuses_a_relay_side_that_was_changed(
    service: Service, field: str
) -> None:
    campaign = await relayed_campaign(service)
    await campaign.sent(campaign.honest(LEAST_BATCH))
    await campaign.released()
    assert await downloaded(campaign)
    document = await document_of(campaign, "relay-estimates")
    wrong: dict[str, Any] = {
        "report_counts": [LEAST_BATCH, *(0 for _ in document["report_counts"][1:])],
        "received": LEAST_BATCH + 1,
        "statement": "sha256:" + "0" * 64,
    }
    changed = with_digest({**document, field: wrong[field]})
    with pytest.raises(BlenderError):
        await downloaded(campaign, relay_estimates=canonical(changed))
