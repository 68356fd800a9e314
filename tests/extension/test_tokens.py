"""A campaign that counts every person once: the token is explained, fetched, and spent later."""

import json
from pathlib import Path

import pytest
from extension.collection import Collection, contribute, new_campaign
from extension.conftest import Look, NewPerson
from extension.person import Person
from extension.recording_proxy import Sent
from extension.test_relay import OPTED_IN, check
from playwright.sync_api import Page, expect
from running_service import RunningService

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAKE_DUE = """async () => {
  const opened = await new Promise((resolve) => {
    const request = indexedDB.open('blender-dp', 1);
    request.onsuccess = () => resolve(request.result);
  });
  const store = opened.transaction('ledger', 'readwrite').objectStore('ledger');
  const ledger = await new Promise((resolve) => {
    store.get('ledger').onsuccess = ({ target }) => resolve(target.result);
  });
  const [entry] = ledger.entries;
  store.put({ ...ledger, entries: [{ ...entry, sendAfter: 1 }] }, 'ledger');
  await new Promise((resolve) => { store.transaction.oncomplete = resolve; });
  opened.close();
  return entry.sendAfter - entry.drawnAt;
}"""
"""Lets the time of the one report come, and returns how long it would have waited."""
DAY = 86_400_000


def test_a_person_gets_one_token_and_reports_with_it_later(
    new_person: NewPerson, collector: RunningService, look: Look, tmp_path: Path
) -> None:
    url, token = collector.url, collector.token
    with new_person(tmp_path / "profile") as person:
        collection = new_campaign(url, token, reports="token", open_enrolment=False)
        code, *_ = collection.post("/enrolments", {"count": 1})["tokens"]
        options = choose_with_a_code(person, collection, code, look)
        contribute(collection, OPTED_IN)
        collection.move("seal-opt-in", "opt-in-open", then="list-published")
        check(options)
        expect(options.locator("#sent")).to_contain_text("A token for your one report was asked")
        expect(options.locator("#nothing-left")).to_be_hidden()
        [asked] = sent_to(person, collection, "/report-token")
        assert f"authorization: bearer {code}".lower().encode() in asked.head.lower()
        collection.move("open-clients", "list-published", then="clients-open")
        check(options)
        expect(options.locator("#sent")).to_contain_text("Nobody can tell by it which report is")
        expect(options.locator("#sent")).to_contain_text("This time is random")
        look(options, "options")
        assert sent_to(person, collection, "/reports") == []
        assert 0 <= options.evaluate(MAKE_DUE) < DAY
        check(options)
        check(options)  # sends nothing more
        expect(options.locator("#standing")).to_contain_text("your one report was sent")
        [request] = sent_to(person, collection, "/reports")
        assert code.encode() not in request.head
        report = json.loads(request.body)
        assert len(report["token"]) == 472
        assert "report_id" not in report
        assert len(sent_to(person, collection, "/report-token")) == 1
        progress = collection.get("/progress")
        assert (progress["tokens"], sum(progress["reports"].values())) == (1, 1)


def test_a_person_opts_in_with_the_code_of_a_campaign_that_is_not_open_to_all(
    new_person: NewPerson, collector: RunningService, look: Look, tmp_path: Path
) -> None:
    url, token = collector.url, collector.token
    with new_person(tmp_path / "profile") as person:
        collection = new_campaign(url, token, open_enrolment=False)
        page = person.take_up(collection.share_page)
        expect(page.locator("#campaign")).to_contain_text("they can think it is 1 in 19 at most")
        expect(page.locator("#code-part")).to_be_hidden()
        page.get_by_role("radio", name="I trust them").check()
        expect(page.locator("#code-part")).to_contain_text("it can tell that the searches are")
        page.get_by_label("I have read this and agree").check()
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#said")).to_contain_text("needs the code")
        look(page, "welcome")
        code, *_ = collection.post("/enrolments", {"count": 1})["tokens"]
        page.get_by_label("The code that you were given").fill(code)
        options = person.agree(page)
        expect(options.locator("#standing")).to_contain_text("will be sent by themselves, once")
        assert sent_to(person, collection, "/enrol") == []


def choose_with_a_code(person: Person, collection: Collection, code: str, look: Look) -> Page:
    """Read what a token is, and choose private reports with the code."""
    page = person.take_up(collection.share_page)
    page.get_by_role("radio", name="I trust nobody").check()
    token = page.locator("#token")
    expect(token).to_contain_text("it shows that you are one person.")
    expect(token).to_contain_text("Nobody can tell by it which report is yours.")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#said")).to_contain_text("needs the code")
    look(page, "welcome")
    page.get_by_label("The code that you were given").fill(code)
    return person.choose(page, "I trust nobody")


def sent_to(person: Person, collection: Collection, path: str) -> list[Sent]:
    """Return the requests of the browser that posted something there."""
    wanted = f"POST {collection.invitation}{path} "
    return [one for one in person.sent.to(collection.port) if one.line.startswith(wanted)]
