"""The ledger: what people are told of all campaigns they took part in is true."""

import json
from pathlib import Path

import pytest
from extension.collection import Collection, new_campaign, wait_for
from extension.conftest import Look, NewPerson
from extension.person import Person
from playwright.sync_api import Locator, Page, expect
from running_service import RunningService

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST, SECOND, THIRD = "The first town", "The second town", "The third town"


@pytest.fixture
def campaigns(collector: RunningService) -> dict[str, Collection]:
    """Return three campaigns of one service, all of which take contributions."""
    names = (FIRST, SECOND, THIRD)
    return {name: new_campaign(collector.url, collector.token, name) for name in names}


def test_every_campaign_stays_in_the_ledger_and_is_left_by_itself(
    campaigns: dict[str, Collection],
    new_person: NewPerson,
    engine_port: int,
    look: Look,
    tmp_path: Path,
) -> None:
    with new_person(tmp_path / "profile") as person:
        options = take_private_reports(person, campaigns[FIRST], engine_port)
        expect(options.locator("#nothing-left")).to_be_visible()
        send_as_they_are(person, campaigns[SECOND])
        # Looking at another campaign, and choosing for it, leaves the ledger as it is.
        page = person.take_up_before_the_page_knows(campaigns[THIRD].dashboard_page)
        expect(page.locator("#name")).to_have_text(THIRD)
        options = person.choose(page, "I trust nobody")
        expect(options.locator("#sent h3")).to_have_text([THIRD, SECOND, FIRST])
        expect(options.locator("#nothing-left")).to_be_hidden()
        expect(options.locator("#spent")).to_have_text("4")
        given = part(options, SECOND)
        expect(given).to_contain_text("1 search as it is, not scrambled")
        expect(given).to_contain_text("the organisation can read these searches")
        for name in (FIRST, THIRD):
            expect(part(options, name)).to_contain_text("Nothing has left this device for this")
            expect(part(options, name).get_by_role("button")).to_have_count(0)
        look(options, "ledger")
        given.get_by_role("button", name="Withdraw").click()
        expect(options.locator("#said")).to_have_text("The organisation has your searches no more.")
        assert campaigns[SECOND].get("/progress")["withdrawn"] == 1
        expect(given.get_by_role("button", name="Withdraw")).to_have_count(0)
        expect(given).to_contain_text("the organisation confirmed that it has them no more")
        expect(options.locator("#spent")).to_have_text("4")  # what was spent stays spent
        nothing_is_promised_when_it_is_over(person, options, campaigns[THIRD])
        texts_of_others_stay_harmless(person, options)


def nothing_is_promised_when_it_is_over(
    person: Person, options: Page, campaign: Collection
) -> None:
    """Let the operator give a campaign up that waits for this person's report."""
    expect(options.locator("#standing")).to_contain_text("one report will be sent when")
    campaign.move("purge", "opt-in-open", then="purged")
    options.get_by_role("button", name="Check now").click()
    expect(options.locator("#standing")).to_contain_text("No report was sent, and none will be.")
    page = person.take_up(campaign.share_page)
    for choice in ("I trust them", "I trust nobody"):
        expect(page.get_by_role("radio", name=choice)).to_be_disabled()


def texts_of_others_stay_harmless(person: Person, options: Page) -> None:
    """Show a name that turns the direction of a text, and an address that is a program."""
    person.worker.evaluate(
        """async () => {
            const { campaigns } = await chrome.storage.local.get('campaigns');
            const hostile = { name: 'weather\u202egnp.exe', privacyPolicy: 'javascript:alert(1)' };
            await chrome.storage.local.set({ campaigns: [{ ...campaigns[0], ...hostile }] });
        }"""
    )
    options.reload()
    hostile = part(options, "weather\ufffdgnp.exe")
    expect(hostile).to_contain_text("It gives no privacy policy.")
    expect(hostile.get_by_role("link")).to_have_count(0)


def take_private_reports(person: Person, campaign: Collection, engine_port: int) -> Page:
    """Search twice under "your searches stay on this device"."""
    page = person.take_up(campaign.share_page)
    expect(page.locator("#name")).to_have_text(FIRST)
    shown = page.locator("#collector")
    expect(shown).to_contain_text(
        f"Goes to 127.0.0.1:{campaign.port}. Collected by A town library."
    )
    expect(shown).to_contain_text("Questions: privacy@library.example.")
    policy = shown.get_by_role("link", name="https://library.example/privacy")
    expect(policy).to_have_attribute("href", "https://library.example/privacy")
    options = person.choose(page, "I trust nobody")
    person.watch(options)
    for query in ("private one", "private two"):
        person.click_result(engine_port, query)
    wait_for(lambda: len(person.records(options)) == 2, "the records")
    return options


def send_as_they_are(person: Person, campaign: Collection) -> None:
    """Opt in later: what was recorded before is sent only if it is ticked."""
    page = person.take_up(campaign.invitation)
    page.get_by_role("radio", name="I trust them").check()
    expect(page.locator("#older")).to_be_visible()
    options = person.agree(page)
    sending = options.locator("#contribute")
    expect(sending).to_have_text("Send 0 ticked searches now")
    expect(sending).to_be_disabled()
    options.get_by_label("Send private two").check()
    expect(sending).to_have_text("Send 1 ticked search now")
    sending.click()
    expect(options.locator("#said")).to_have_text("Your searches were sent.")
    raw = [one for one in person.sent.to(campaign.port) if one.line.endswith("/opt-in HTTP/1.1")]
    records = [json.loads(one.body)["records"] for one in raw]
    assert [[record["query"] for record in sent] for sent in records] == [["private two"]]


def part(options: Page, name: str) -> Locator:
    """Return what the ledger says of one campaign."""
    return options.locator("#sent article").filter(has_text=name)
