"""Dead ends and falsehoods that an operator met: the page says what is so, and the way on."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import LiveService, move, new_campaign
from dashboard.test_campaign_form import made
from dashboard.test_whole_campaign import SOON, fill_form
from playwright.sync_api import Page, Route, expect

from blender_dp.service.http.access import Role

pytestmark = pytest.mark.browser


def created(service: LiveService, name: str, **fields: object) -> str:
    with service.http as http:
        answer = http.post("/campaigns", json={**new_campaign(name), **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])


def confirm(page: Page, title: str) -> None:
    page.get_by_role("button", name=title).click()
    page.get_by_role("dialog").get_by_role("button", name=title).click()


def test_a_campaign_that_cannot_go_on_says_why_and_invites_nobody(
    open_page: OpenPage, service: LiveService
) -> None:
    campaign = created(service, "Nobody came")
    page = open_page(f"#/campaigns/{campaign}")
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()
    move(service, campaign, "open-opt-in", "draft")
    move(service, campaign, "seal-opt-in", "opt-in-open")
    state = page.get_by_role("region", name="State")
    expect(state.get_by_role("status")).to_contain_text(
        "The head list could not be made: too few opt-in users.", timeout=SOON
    )
    expect(state).not_to_contain_text("being made")
    expect(page.get_by_role("heading", name="Invite people")).to_have_count(0)


def test_a_draft_whose_time_is_over_stays_a_draft_and_the_page_says_what_to_do(
    open_page: OpenPage, service: LiveService
) -> None:
    until = datetime.now(UTC) + timedelta(seconds=1)
    campaign = created(service, "Too late", rules={"opt_in_until": until.isoformat()})
    page = open_page(f"#/campaigns/{campaign}")
    time.sleep(max(0.0, (until - datetime.now(UTC)).total_seconds()))
    confirm(page, "Open for opt-in users")
    expect(page.get_by_role("alert")).to_contain_text("Edit the draft and choose a later one.")
    expect(page.locator("[aria-current=step]")).to_have_text("Draft")


@pytest.mark.parametrize("is_new", [True, False])
def test_whoever_signs_in_again_keeps_what_was_typed(
    open_page: OpenPage, service: LiveService, *, is_new: bool
) -> None:
    """The token is replaced on its way by one that the service does not know, as if revoked."""
    name = f"Typed for an hour, {'new' if is_new else 'edited'}"
    page = open_page("#/new" if is_new else f"#/edit/{created(service, 'Before')}")
    fill_form(page, name)
    path, revoked = re.compile("/v1/campaigns/"), {"authorization": f"Bearer {'A' * 43}"}
    page.route(path, lambda route: route.continue_(headers={**route.request.headers, **revoked}))
    save = page.get_by_role("button", name="Create the draft" if is_new else "Save the draft")
    save.click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    page.unroute(path)
    page.get_by_label("API token").fill(service.tokens[Role.OPERATOR])
    page.get_by_role("button", name="Sign in again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    save.click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    assert len(made(service, name)) == 1


def test_a_name_with_two_spaces_can_be_typed_to_purge(
    open_page: OpenPage, service: LiveService
) -> None:
    page = open_page(f"#/campaigns/{created(service, 'Two  spaces')}")
    page.get_by_role("button", name="Purge").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Two spaces")
    dialog.get_by_role("button", name="Purge").click()
    expect(page.locator("[aria-current=step]")).to_have_text("Purged", timeout=SOON)
    page.get_by_role("link", name="Release", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("This campaign has not published it.")


def test_a_campaigns_own_nouns_are_in_every_label_of_its_release(
    open_page: OpenPage, service: LiveService, released: tuple[str, str]
) -> None:
    def named(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "query_name": "product", "url_name": "state"})

    page = open_page("#/campaigns")
    page.route(f"**/v1/campaigns/{released[0]}", named)
    for part in ("release", "downloads"):
        page.goto(f"{service.url}/#/campaigns/{released[0]}/{part}")
        expect(page.locator("main .card", has_text="product").first).to_be_visible()
        labels = page.evaluate(
            "[...document.querySelectorAll('main :is(caption, h2, h3, thead, .file-list span,"
            " [role=img])')].map((node) => `${node.textContent} ${node.ariaLabel ?? ''}`).join('|')"
        )
        labels = re.sub(r"query \d", "", labels)  # what was searched for, along an axis
        assert "product" in labels
        assert not re.search(r"\bquer(y|ies)\b", labels, re.IGNORECASE), labels
