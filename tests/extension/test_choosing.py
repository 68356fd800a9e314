"""Choices in odd orders: what was ticked or typed for one campaign is not taken for another."""

from pathlib import Path

import pytest
from extension.collection import Collection, new_campaign, wait_for
from extension.conftest import NewPerson
from extension.person import Person
from playwright.sync_api import Page, expect
from running_service import RunningService

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WITH_CODE, OTHER = "With a code", "Another town"


@pytest.fixture
def campaigns(collector: RunningService) -> dict[str, Collection]:
    """Return two campaigns of one service; one asks for a code."""
    url, token = collector.url, collector.token
    return {
        WITH_CODE: new_campaign(url, token, WITH_CODE, open_enrolment=False),
        OTHER: new_campaign(url, token, OTHER),
    }


def test_an_agreement_is_for_the_campaign_that_was_shown(
    campaigns: dict[str, Collection], new_person: NewPerson, engine_port: int, tmp_path: Path
) -> None:
    with new_person(tmp_path / "profile") as person:
        page = person.take_up(campaigns[WITH_CODE].share_page)
        page.get_by_role("radio", name="I trust them").check()
        page.get_by_label("I have read this and agree").check()
        page.get_by_label("The code that you were given").fill("a secret of the first")
        person.look_up(page, campaigns[OTHER].share_page)
        expect(page.locator("#name")).to_have_text(OTHER)
        nothing_is_proposed(page)
        person.look_up(page, campaigns[WITH_CODE].share_page)
        page.get_by_role("radio", name="I trust them").check()
        expect(page.get_by_label("I have read this and agree")).not_to_be_checked()
        expect(page.get_by_label("The code that you were given")).to_have_value("")
        # A campaign that was looked up and left is not proposed with the choice for another one.
        options = person.choose(person.take_up(campaigns[OTHER].share_page), "I trust nobody")
        person.take_up(campaigns[WITH_CODE].share_page)
        page = person.open("welcome.html")
        expect(page.locator("#name")).to_have_text(WITH_CODE)
        nothing_is_proposed(page)
        what_waits_is_not_sent_by_who_chose_nothing(person, options, campaigns[OTHER], engine_port)


def nothing_is_proposed(page: Page) -> None:
    """See that a person must choose by themselves."""
    expect(page.locator("input[name=choice]:checked")).to_have_count(0)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#said")).to_have_text("One of these must be chosen.")


def what_waits_is_not_sent_by_who_chose_nothing(
    person: Person, options: Page, campaign: Collection, engine_port: int
) -> None:
    """Agree, send without a network, choose nothing, and be online again."""
    options = person.agree(person.take_up(campaign.share_page))
    person.watch(options)
    person.click_result(engine_port, "left behind")
    wait_for(lambda: len(person.records(options)) == 1, "the record")
    person.worker.evaluate(  # what is sent gets lost
        """() => {
            const ask = globalThis.fetch;
            globalThis.fetch = async (place, options) => {
                if (`${place}`.endsWith('/opt-in')) throw new TypeError('network error');
                return ask(place, options);
            };
            globalThis.online = () => { globalThis.fetch = ask; };
        }"""
    )
    options.get_by_role("button", name="Send 1 ticked search now").click()
    expect(options.locator("#said")).to_contain_text("could not be sent; they will be later")
    expect(options.locator("#sent")).to_contain_text("sent again until it arrives")
    expect(options.locator("#campaign")).to_contain_text("Nothing more is recorded for it.")
    options = person.choose(person.open("welcome.html"), "Nothing")
    expect(options.locator("#standing")).to_have_text("Nothing is recorded and nothing is sent.")
    expect(options.locator("#sent")).to_contain_text("It is not sent again")
    expect(options.locator("#sent")).not_to_contain_text("until it arrives")
    person.worker.evaluate("online()")
    options.get_by_role("button", name="Check now").click()
    expect(options.locator("#said")).to_have_text("Done.")
    assert campaign.get("/progress")["contributed"] == 0
