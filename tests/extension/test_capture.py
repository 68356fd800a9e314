"""What is noticed on result pages, and what is not; what is forgotten when a person says so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from extension.collection import Collection, new_campaign, wait_for
from extension.conftest import Look, NewPerson
from extension.person import Person
from extension.search_engine import ENGINE, SITE
from playwright.sync_api import Page, expect
from running_service import RunningService

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def collection(collector: RunningService) -> Collection:
    """Return a campaign that all tests of this file share."""
    return new_campaign(collector.url, collector.token)


@pytest.fixture
def somebody(new_person: NewPerson, tmp_path: Path) -> Iterator[Person]:
    with new_person(tmp_path / "profile") as person:
        yield person


def queries(person: Person) -> list[str]:
    kept: dict[str, Any] = person.worker.evaluate("chrome.storage.local.get('records')")
    return [record["query"] for record in kept.get("records", [])]


def private_options(person: Person, collection: Collection) -> Page:
    options = person.choose(person.take_up(collection.invitation), "I trust nobody")
    person.watch(options)
    return options


def test_results_are_recorded_and_nothing_else_on_the_page(
    somebody: Person, collection: Collection, engine_port: int
) -> None:
    options = private_options(somebody, collection)
    for link in ("advertisement", "next"):
        somebody.click_result(engine_port, f"not {link}", link)
    page = somebody.context.new_page()
    page.goto(f"http://{ENGINE}:{engine_port}/search?q=by+a+program")
    with page.expect_navigation():
        page.evaluate("document.querySelector('#plain').click()")
    page.goto(f"http://{ENGINE}:{engine_port}/elsewhere?q=on+another+page")
    page.goto(f"http://{ENGINE}:{engine_port}/search?q=in+a+new+tab")
    page.locator("#plain").click(button="middle")
    somebody.click_result(engine_port, "  Two   WORDS ", "counted")
    wait_for(lambda: len(queries(somebody)) >= 2, "the records")
    assert queries(somebody) == ["in a new tab", "two words"]
    url = somebody.records(options)[0][1]
    assert url == f"http://{SITE}:{engine_port}/counted/%20%20Two%20%20%20WORDS%20"


def test_who_chose_nothing_has_nothing_recorded(
    somebody: Person, collection: Collection, engine_port: int
) -> None:
    options = private_options(somebody, collection)
    somebody.click_result(engine_port, "before")
    wait_for(lambda: queries(somebody) == ["before"], "the record")
    page = somebody.open("welcome.html")
    somebody.choose(page, "Nothing")
    assert queries(somebody) == []
    assert somebody.worker.evaluate("chrome.scripting.getRegisteredContentScripts()") == []
    somebody.click_result(engine_port, "after")
    assert somebody.records(options) == []
    expect(options.locator("#standing")).to_have_text("Nothing is recorded and nothing is sent.")


def test_a_search_page_that_is_switched_off_is_not_watched(
    somebody: Person, collection: Collection, engine_port: int
) -> None:
    options = private_options(somebody, collection)
    options.get_by_label("Notice searches on Engine").uncheck()
    expect(options.get_by_label("Notice searches on Engine")).not_to_be_checked()
    wait_for(
        lambda: somebody.worker.evaluate("chrome.scripting.getRegisteredContentScripts()") == [],
        "the end of watching",
    )
    somebody.click_result(engine_port, "unwatched")
    assert somebody.records(options) == []


def test_everything_can_be_deleted_and_a_contribution_is_taken_back(
    somebody: Person, collection: Collection, engine_port: int
) -> None:
    page = somebody.take_up(collection.invitation)
    options = somebody.agree(page)
    somebody.watch(options)
    somebody.click_result(engine_port, "to be forgotten")
    wait_for(lambda: len(somebody.records(options)) == 1, "the record")
    before = collection.get("/progress")
    options.get_by_role("button", name="Send 1 ticked search now").click()
    expect(options.locator("#said")).to_have_text("Your searches were sent.")
    assert collection.get("/progress")["contributed"] == before["contributed"] + 1
    options.get_by_role("button", name="Delete everything").click()
    options.get_by_role("button", name="Delete", exact=True).click()
    expect(options.locator("#said")).to_have_text("All but the list below was deleted.")
    kept = somebody.worker.evaluate("chrome.storage.local.get()")
    assert [campaign["id"] for campaign in kept.pop("campaigns")] == [collection.campaign]
    assert kept == {}
    assert somebody.worker.evaluate("chrome.scripting.getRegisteredContentScripts()") == []
    after = collection.get("/progress")
    assert after["withdrawn"] == before["withdrawn"] + 1
    assert after["contributed"] == before["contributed"]
    expect(options.locator("#standing")).to_contain_text("You have not chosen yet")


def test_the_first_page_comes_by_itself_and_is_for_everybody(
    somebody: Person, collection: Collection, look: Look
) -> None:
    opened = "chrome.tabs.query({}).then(tabs => tabs.map(tab => tab.url ?? ''))"
    wait_for(
        lambda: any(url.endswith("/welcome.html") for url in somebody.worker.evaluate(opened)),
        "the first page",
    )
    page = somebody.open("welcome.html")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#said")).to_contain_text("One of these must be chosen")
    page.get_by_label("The link that").fill("https://collect.example/else")
    page.get_by_role("button", name="Look it up").click()
    expect(page.locator("#found")).to_contain_text("The link must look like")
    look(page, "welcome-empty")
    page = somebody.take_up(collection.invitation)
    page.get_by_role("radio", name="I trust them").check()
    look(page, "welcome")
    look(somebody.open("options.html"), "options-empty")
    look(somebody.open("privacy.html"), "privacy")
    look(somebody.open("popup.html"), "popup-empty", 360)
    options = somebody.open("options.html")
    options.get_by_role("button", name="Delete everything").click()
    look(options, "deleting")


def test_a_search_page_can_neither_command_the_extension_nor_read_what_it_keeps(
    somebody: Person, collection: Collection, engine_port: int
) -> None:
    private_options(somebody, collection)
    somebody.click_result(engine_port, "kept")
    wait_for(lambda: queries(somebody) == ["kept"], "the record")
    page = somebody.context.new_page()
    page.goto(f"http://{ENGINE}:{engine_port}/search?q=attack")
    assert page.evaluate("typeof chrome === 'undefined' || chrome.runtime === undefined")
    # As if the page had taken over the content script beside it.
    for attack in ("chrome.runtime.sendMessage({ kind: 'view' })", "chrome.storage.local.get()"):
        assert in_content_script(somebody, attack) in (None, "refused"), attack
    forget = "chrome.runtime.sendMessage({ kind: 'forget-everything' })"
    in_content_script(somebody, forget)
    assert in_content_script(somebody, "chrome.runtime.sendMessage({ kind: 'search-page' })")
    assert queries(somebody) == ["kept"]


def in_content_script(person: Person, expression: str) -> Any:
    """Return what an expression gives in the world of content scripts, on the attacking page."""
    body = f"async () => {{ try {{ return await {expression}; }} catch {{ return 'refused'; }} }}"
    return person.worker.evaluate(
        f"""async () => {{
            const [tab] = await chrome.tabs.query({{ url: 'http://{ENGINE}/search*' }});
            const target = {{ tabId: tab.id }};
            const [found] = await chrome.scripting.executeScript({{ target, func: {body} }});
            return found.result ?? null;
        }}"""
    )
