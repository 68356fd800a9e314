"""A campaign with two people's browsers in it, from consent to suggestions without a network."""

import json
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from extension.collection import CONSENT, Collection, contribute, report, wait_for
from extension.conftest import Look, NewPerson
from extension.person import Person
from extension.recording_proxy import Sent
from extension.search_engine import ENGINE, SITE
from playwright.sync_api import Error, Page, expect

from blender_dp.core.head_list.head_list import Record

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TRUSTING_SEARCH = "quokka dentist of old town"
PRIVATE_SEARCH = "zanzibar hedgehog clinic"
LISTED_SEARCH = "weather in town"
_OTHERS = [Record(f"topic {n:02d}", f"https://site{n:02d}.example/") for n in range(36)]
_POPULAR = Record(LISTED_SEARCH, "https://weather.example/town")
OPTED_IN = [*(_OTHERS * 25), *([_POPULAR] * 100)]
CLIENTS = [*(_OTHERS * 110), *([_POPULAR] * 2000)]


def test_people_choose_their_trust_and_all_get_suggestions_offline(
    new_person: NewPerson, collection: Collection, engine_port: int, look: Look, tmp_path: Path
) -> None:
    with new_person(tmp_path / "trusting") as trusting:
        opt_in(trusting, collection, engine_port)
    contribute(collection, OPTED_IN)
    collection.move("seal-opt-in", "opt-in-open", then="list-published")
    collection.move("open-clients", "list-published", then="clients-open")
    with new_person(tmp_path / "private") as private:
        report_privately(private, collection, engine_port)
        report(collection, CLIENTS)
        collection.move("seal-clients", "clients-open", then="released")
        take_release(private)
        look(private.open("options.html"), "options")
        go_offline(private, collection)
        look(find_suggestions(private), "popup", 360)
        assert_nothing_raw_left(private, collection.port, engine_port)
    with new_person(tmp_path / "private") as private:
        go_offline(private, collection)
        find_suggestions(private)  # after a restart too
    # The search through the traffic finds what is there: the trusting person's record.
    raw = trusting.sent.to(collection.port)
    assert [one for one in trusting.sent.naming(TRUSTING_SEARCH) if one in raw]


def opt_in(person: Person, collection: Collection, engine_port: int) -> None:
    """Agree, search, look at what will be sent, send it."""
    page = person.take_up(collection.invitation)
    page.get_by_role("radio", name="I trust them").check()
    expect(page.locator("#consent-text")).to_have_text(CONSENT)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#said")).to_contain_text("tick that you agree")
    page.get_by_label("I have read this and agree").check()
    options = person.choose(page, "I trust them")
    person.watch(options)
    person.click_result(engine_port, TRUSTING_SEARCH)
    url = f"http://{SITE}:{engine_port}/page/{quote(TRUSTING_SEARCH)}?id=7"
    wait_for(lambda: person.records(options) == [(TRUSTING_SEARCH, url)], "the record")
    options.get_by_role("button", name="Send 1 ticked search now").click()
    expect(options.locator("#said")).to_have_text("Your searches were sent.")
    assert collection.get("/progress")["contributed"] == 1
    uploads = [one for one in person.sent.to(collection.port) if one.body]
    assert [json.loads(one.body)["records"] for one in uploads] == [
        [{"query": TRUSTING_SEARCH, "url": url}]
    ]
    expect(options.locator("#sent code")).to_have_text(uploads[0].body.decode())


def report_privately(person: Person, collection: Collection, engine_port: int) -> None:
    """Choose private reports, search, and let the one report go."""
    page = person.take_up(collection.invitation)
    expect(page.get_by_role("radio", name="I trust them")).to_be_disabled()
    options = person.choose(page, "I trust nobody")
    person.watch(options)
    person.click_result(engine_port, PRIVATE_SEARCH)
    person.click_result(engine_port, LISTED_SEARCH)
    wait_for(lambda: len(person.records(options)) == 2, "the records")
    assert [query for query, _ in person.records(options)] == [LISTED_SEARCH, PRIVATE_SEARCH]
    check(options)
    expect(options.locator("#standing")).to_contain_text("your one report was sent")
    check(options)  # draws nothing new
    assert sum(collection.get("/progress")["reports"].values()) == 1
    uploads = [one for one in person.sent.to(collection.port) if one.line.startswith("POST")]
    assert len(uploads) == 1
    expect(options.locator("#sent code")).to_have_text(uploads[0].body.decode())
    expect(options.locator("#spent")).to_have_text("4")
    expect(options.locator("#left")).to_have_text("4")
    expect(options.locator("#explained")).to_contain_text("of 100 reports")


def check(options: Page) -> None:
    options.get_by_role("button", name="Check now").click()
    expect(options.locator("#said")).to_have_text("Done.")
    options.reload()
    expect(options.locator("#standing")).not_to_be_empty()


def take_release(person: Person) -> None:
    """Let the time come at which the extension looks for a release by itself."""
    named = person.worker.evaluate("chrome.alarms.getAll().then(all => all.map(one => one.name))")
    assert sorted(named) == ["campaign", "release", "send"]
    for name in ("campaign", "release"):
        person.worker.evaluate("name => chrome.alarms.onAlarm.dispatch({ name })", name)
    stored = "chrome.storage.local.get('release').then(kept => 'release' in kept)"
    wait_for(lambda: bool(person.worker.evaluate(stored)), "the release")
    expect(person.open("options.html").locator("#release")).to_contain_text("work offline")


def go_offline(person: Person, collection: Collection) -> None:
    """Cut the browser's only way out, and see that it is cut for pages and for the worker.

    The browser's own switch reaches a worker at a time of its own.
    """
    person.sent.is_cut = True
    with pytest.raises(Error, match="net::ERR_"):
        person.context.new_page().goto(collection.invitation)
    reach = "address => fetch(address, { cache: 'no-store' }).then(() => 'there', () => 'gone')"
    assert person.worker.evaluate(reach, collection.invitation) == "gone"


def find_suggestions(person: Person) -> Page:
    """Type in the popup, by keyboard alone, and in the address bar."""
    popup = person.open("popup.html", width=360)
    popup.keyboard.type("wea")
    first = popup.locator("#suggestions li").first
    expect(first.locator(".query span").first).to_have_text(LISTED_SEARCH)
    popup.keyboard.press("ArrowDown")
    expect(first.get_by_role("link", name="weather.example/town")).to_be_focused()
    lines = person.worker.evaluate(
        "text => new Promise(answer => chrome.omnibox.onInputChanged.dispatch(text, answer))", "wea"
    )
    assert lines[0]["content"] == "https://weather.example/town"
    assert lines[0]["description"].startswith(LISTED_SEARCH)
    return popup


def assert_nothing_raw_left(person: Person, service_port: int, engine_port: int) -> None:
    """Search all that the browser sent: its own visits to pages name the search, nothing else."""
    for search in (PRIVATE_SEARCH, LISTED_SEARCH):
        named = [one for one in person.sent.naming(search) if not is_icon(one)]
        assert [one.line for one in named] == [
            f"GET http://{ENGINE}:{engine_port}/search?q={quote_plus(search)} HTTP/1.1",
            f"GET http://{SITE}:{engine_port}/page/{quote(search)}?utm_source=engine&id=7 HTTP/1.1",
        ]
        assert all(b"accept: text/html" in one.head.lower() for one in named), "page visits"
    to_service = person.sent.to(service_port)
    assert {one.line.split("/")[-2].split(" ")[0] for one in to_service} >= {"reports", "release"}
    for one in to_service:
        assert not any(word in one.content.lower() for word in (b"hedgehog", b"weather", b"/page/"))
        assert b"content-encoding" not in one.head.lower(), "what cannot be read is not searched"
        assert b"cookie" not in one.head.lower()
        assert b"referer" not in one.head.lower()


def is_icon(one: Sent) -> bool:
    """Tell whether the browser asked for the icon of a page that it visited."""
    return "/favicon.ico " in one.line
