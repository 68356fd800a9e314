"""A report through a relay: explained, chosen, encrypted, sent there and nowhere else."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from extension.collection import Collection, contribute, new_campaign, wait_for
from extension.conftest import Look, NewPerson
from extension.person import Person
from playwright.sync_api import Page, expect
from running_relay import RunningRelay, running_relay
from running_service import running_service

from blender_dp.core.head_list.head_list import Record
from blender_dp.service.keys.key_vault import KeyVault, relayed_reports_key
from blender_dp.wire.relayed.encrypted_report import ReportEncryption
from blender_dp.wire.reports.packed_items import from_text
from blender_dp.wire.service.signed_head_list import read_signed_head_list

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SEARCH = "zanzibar hedgehog clinic"
OPTED_IN = [Record(f"topic {n:02d}", f"https://site{n:02d}.example/") for n in range(36)] * 25
RELAYED = "I trust somebody in between"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedCollection:
    """A campaign with a real relay, and where the parts keep their data."""

    collection: Collection
    relay: RunningRelay
    keys: Path
    """The collector's keys."""

    @property
    def relay_port(self) -> int:
        """Where the relay listens."""
        return int(self.relay.url.rpartition(":")[2])

    @property
    def waiting(self) -> int:
        """How many reports the relay holds."""
        answer = httpx.get(f"{self.relay.url}/v1/campaigns/{self.collection.campaign}", timeout=60)
        assert answer.is_success, answer.text
        return int(answer.json()["waiting"])


@pytest.fixture
def mixed(tmp_path: Path) -> Iterator[MixedCollection]:
    """Return a campaign whose clients may use a relay; it takes opt-in users still."""
    for_service, for_relay = tmp_path / "service", tmp_path / "relay"
    for_service.mkdir()
    for_relay.mkdir()
    with running_service(for_service) as service, running_relay(for_relay, service.url) as relay:
        named = {"address": f"{relay.url}/", "public_key": relay.key, "least_batch": 20_000}
        yield MixedCollection(
            collection=new_campaign(service.url, service.token, relay=named),
            relay=relay,
            keys=for_service / "data" / "keys",
        )


def test_one_encrypted_report_goes_to_the_relay_and_nothing_else(
    new_person: NewPerson,
    mixed: MixedCollection,
    engine_port: int,
    look: Look,
    tmp_path: Path,
) -> None:
    collection = mixed.collection
    with new_person(tmp_path / "profile") as person:
        options = choose_the_relay(person, mixed, look)
        person.watch(options)
        person.click_result(engine_port, SEARCH)
        wait_for(lambda: [query for query, _ in person.records(options)] == [SEARCH], "the record")
        contribute(collection, OPTED_IN)
        collection.move("seal-opt-in", "opt-in-open", then="list-published")
        collection.move("open-clients", "list-published", then="clients-open")
        check(options)
        standing = options.locator("#standing")
        expect(standing).to_have_text("Through a relay: your one report was sent.")
        check(options)  # draws nothing new
        assert mixed.waiting == 1
        body = the_relay_got_one_request(person, mixed)
        the_ledger_shows_both_numbers(options, body)
        look(options, "options")
        look(person.open("privacy.html"), "privacy")
        nothing_raw_left(person, mixed)
    the_collector_alone_can_read_it(mixed, body)


def test_a_campaign_without_a_relay_does_not_offer_one(
    new_person: NewPerson, collection: Collection, tmp_path: Path
) -> None:
    with new_person(tmp_path / "profile") as person:
        page = person.take_up(collection.share_page)
        expect(page.get_by_role("radio", name="I trust nobody")).to_be_enabled()
        expect(page.locator("#relayed-choice")).to_be_hidden()


def choose_the_relay(person: Person, mixed: MixedCollection, look: Look) -> Page:
    """Read what the choice means, and choose it."""
    page = person.take_up(mixed.collection.share_page)
    choice = page.locator("#relayed-choice")
    expect(choice).to_contain_text(f"127.0.0.1:{mixed.relay_port}")
    expect(choice).to_contain_text("at least 20,000 such reports")
    expect(choice).to_contain_text("55 times more likely (ε = 4)")
    expect(choice).to_contain_text("at most 2,981 times more likely (ε = 8)")
    page.get_by_role("radio", name=RELAYED).check()
    expect(page.locator("#consent")).to_be_hidden()
    look(page, "welcome")
    options = person.choose(page, RELAYED)
    expect(options.locator("#standing")).to_contain_text("one report will be sent when")
    return options


def the_relay_got_one_request(person: Person, mixed: MixedCollection) -> bytes:
    """Return what was sent to the relay, which is one report and nothing else."""
    [request] = person.sent.to(mixed.relay_port)
    path = f"{mixed.relay.url}/v1/campaigns/{mixed.collection.campaign}/reports"
    assert request.line == f"POST {path} HTTP/1.1"
    assert set(json.loads(request.body)) == {"version", "head_list", "encryption_key", "report"}
    return request.body


def the_ledger_shows_both_numbers(options: Page, body: bytes) -> None:
    expect(options.locator("#sent code")).to_have_text(body.decode())
    expect(options.locator("#sent h4")).to_contain_text("through the relay")
    expect(options.locator("#sent")).to_contain_text("If they do work together")
    expect(options.locator("#spent")).to_have_text("4")
    expect(options.locator("#relay-spending")).to_be_visible()
    spent, left = (
        float(options.locator(f"#relay-{what}").inner_text()) for what in ("spent", "left")
    )
    assert 4 < spent <= 8
    assert spent + left == pytest.approx(16)
    expect(options.locator("#explained")).to_contain_text("cannot open the report")


def nothing_raw_left(person: Person, mixed: MixedCollection) -> None:
    """Search all that the browser sent to the relay and to the collector, and what they wrote."""
    to_collector = person.sent.to(mixed.collection.port)
    assert [one for one in to_collector if not one.line.startswith("GET")] == []
    for one in (*person.sent.to(mixed.relay_port), *to_collector):
        assert not any(word in one.content.lower() for word in (b"hedgehog", b"/page/"))
        assert b"cookie" not in one.head.lower()
        assert b"referer" not in one.head.lower()
    assert sum(mixed.collection.get("/progress")["reports"].values()) == 0
    written = [path for path in mixed.relay.directory.rglob("*") if path.is_file()]
    assert len(written) > 2
    assert not any(b"hedgehog" in path.read_bytes().lower() for path in written)


def the_collector_alone_can_read_it(mixed: MixedCollection, body: bytes) -> None:
    """Decrypt the report with the collector's key of this campaign, which is in its vault."""
    collection = mixed.collection
    signed = read_signed_head_list(collection.get("/head-list"))
    encryption = ReportEncryption(signed.head_list, campaign=signed.campaign, digest=signed.digest)
    encrypted = from_text(json.loads(body)["report"], encryption.length)
    assert encrypted is not None
    key = relayed_reports_key(KeyVault(mixed.keys), UUID(collection.campaign))
    report = encryption.decrypt(encrypted, key)
    assert len(report.report_id) == 16
    assert 0 <= report.cell < signed.head_list.cells.cell_count


def check(options: Page) -> None:
    options.get_by_role("button", name="Check now").click()
    expect(options.locator("#said")).to_have_text("Done.")
    options.reload()
    expect(options.locator("#standing")).not_to_be_empty()
