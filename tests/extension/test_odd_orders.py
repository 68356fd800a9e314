"""What people read stays true in odd orders of clicks, in two windows, and when a campaign ends."""

from pathlib import Path

import pytest
from extension.collection import Collection, new_campaign, wait_for
from extension.conftest import NewPerson
from extension.person import Person
from playwright.sync_api import Page, expect
from running_service import RunningService

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST, SECOND, LONG = "The first town", "The second town", "W" * 180
REGISTERED = "chrome.scripting.getRegisteredContentScripts()"


@pytest.fixture
def campaigns(collector: RunningService) -> dict[str, Collection]:
    """Return three campaigns of one service, all of which take contributions."""
    names = (FIRST, SECOND, LONG)
    return {name: new_campaign(collector.url, collector.token, name) for name in names}


def test_every_sentence_is_true_in_odd_orders(
    campaigns: dict[str, Collection], new_person: NewPerson, engine_port: int, tmp_path: Path
) -> None:
    with new_person(tmp_path / "profile") as person:
        options = opt_in_and_record(person, campaigns[FIRST], engine_port)
        ticks_are_readable_and_keep_the_focus(options)
        another_window_shows_it_too(person, options)
        nothing_more_is_promised_than_the_device_allows(person, campaigns, engine_port)
        nothing_is_recorded_for_what_is_closed(person, campaigns[SECOND])
        a_page_that_the_browser_forbids_is_not_shown_as_on(person)
        excuses_are_of_the_campaign_that_is_shown(person, campaigns)
        what_cannot_be_deleted_is_said(person)


def opt_in_and_record(person: Person, campaign: Collection, engine_port: int) -> Page:
    options = person.agree(person.take_up(campaign.share_page))
    expect(options.locator("#standing")).to_contain_text("That happens soon after")
    person.watch(options)
    for query in ("one", "two", "three"):
        person.click_result(engine_port, query)
    wait_for(lambda: len(person.records(options)) == 3, "the records")
    return options


def ticks_are_readable_and_keep_the_focus(options: Page) -> None:
    """Untick by keyboard, and delete a row: nobody begins at the top of the page again."""
    label = options.locator("#records label").first
    assert label.evaluate("label => label.getBoundingClientRect().height") < 40, "one line"
    box = options.get_by_label("Send two")
    box.focus()
    options.keyboard.press("Space")
    expect(options.locator("#contribute")).to_have_text("Send 2 ticked searches now")
    expect(box).not_to_be_checked()
    expect(box).to_be_focused()
    options.get_by_role("button", name="Delete two").press("Enter")
    expect(options.locator("#records tr")).to_have_count(2)
    expect(options.get_by_role("button", name="Delete one")).to_be_focused()


def another_window_shows_it_too(person: Person, options: Page) -> None:
    """Send in one window: the other one, which nobody touches, does not say that nothing left."""
    other = person.open("options.html")
    expect(other.locator("#nothing-left")).to_be_visible()
    options.get_by_role("button", name="Send 2 ticked searches now").click()
    expect(options.locator("#said")).to_have_text("Your searches were sent.")
    expect(other.locator("#nothing-left")).to_be_hidden()
    expect(other.locator("#standing")).to_have_text("Opt in: your searches were sent as they are.")
    expect(person.open("popup.html").locator("#budget")).to_have_text("Privacy budget: 50 % used")


def nothing_more_is_promised_than_the_device_allows(
    person: Person, campaigns: dict[str, Collection], engine_port: int
) -> None:
    """Opt in to a second campaign: the first one took all the δ that a device allows."""
    options = person.agree(person.take_up(campaigns[SECOND].share_page))
    person.click_result(engine_port, "four")
    wait_for(lambda: len(person.records(options)) == 3, "the record")
    expect(options.locator("#standing")).to_contain_text("Opt in: nothing is sent now.")
    options.get_by_role("button", name="Send 1 ticked search now").click()
    expect(options.locator("#said")).to_contain_text("The chance that a limit fails (δ) must be")
    assert campaigns[SECOND].get("/progress")["contributed"] == 0


def nothing_is_recorded_for_what_is_closed(person: Person, campaign: Collection) -> None:
    """Close the opt-in side before the searches went there; the list fails, as nobody opted in."""
    assert person.worker.evaluate(REGISTERED) != []
    campaign.post("/moves", {"move": "seal-opt-in", "from": "opt-in-open"})
    options = person.open("options.html")
    options.get_by_role("button", name="Check now").click()
    standing = options.locator("#standing")
    expect(standing).to_contain_text("takes no searches now. None of yours was sent to it.")
    expect(standing).to_contain_text("You can still choose a private report.")
    expect(options.locator("#campaign")).to_contain_text("Nothing more is recorded")
    expect(options.locator("#ticking")).to_be_hidden()
    assert person.worker.evaluate(REGISTERED) == []


def a_page_that_the_browser_forbids_is_not_shown_as_on(person: Person) -> None:
    """Take a permission back in the browser's own settings."""
    person.worker.evaluate(
        """async () => {
            const { settings } = await chrome.storage.local.get('settings');
            const pages = settings.pages.map((page) => ({ ...page, isOn: true }));
            await chrome.storage.local.set({ settings: { ...settings, pages } });
            chrome.permissions.onRemoved.dispatch({ origins: ['https://duckduckgo.com/*'] });
        }"""
    )
    options = person.open("options.html")
    expect(options.get_by_label("Notice searches on DuckDuckGo")).not_to_be_checked()
    expect(options.get_by_label("Notice searches on Engine")).to_be_checked()


def excuses_are_of_the_campaign_that_is_shown(
    person: Person, campaigns: dict[str, Collection]
) -> None:
    """Look up a campaign with a long name, one that is over, and type another link."""
    page = person.take_up(campaigns[LONG].share_page)
    page.set_viewport_size({"width": 360, "height": 800})
    root = "(root => root.scrollWidth - root.clientWidth)(document.documentElement)"
    assert page.evaluate(root) <= 0, "a long name must not make the page wider"
    expect(page.locator("#instead")).to_contain_text(f"You take part in “{SECOND}” now.")
    campaigns[LONG].move("purge", "opt-in-open", then="purged")
    person.look_up(page, campaigns[LONG].share_page)
    excuse = page.locator("#no-report")
    expect(excuse).to_have_text("This campaign is over: it takes no more reports.")
    page.get_by_label("The link that").fill(campaigns[FIRST].share_page)
    expect(excuse).to_have_text("Look up a campaign first.")
    expect(page.locator("#no-opt-in")).to_have_text("Look up a campaign first.")
    expect(page.locator("#instead")).to_be_hidden()


def what_cannot_be_deleted_is_said(person: Person) -> None:
    """Delete everything: the campaigns that got something are still listed."""
    options = person.open("options.html")
    options.get_by_role("button", name="Delete everything").click()
    options.get_by_role("button", name="Delete", exact=True).click()
    expect(options.locator("#said")).to_have_text("All but the list below was deleted.")
    expect(options.locator("#sent h3")).to_have_text([FIRST])
