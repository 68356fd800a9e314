"""People are invited from the dashboard; the share page works for everybody, without a script."""

import re

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import LiveService, move, new_campaign
from dashboard.test_for_everybody import SCHEMES, WIDTHS, violations
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser


@pytest.fixture
def campaign(service: LiveService) -> str:
    """Return a campaign that takes contributions."""
    with service.http as http:
        made = str(http.post("/campaigns", json=new_campaign("Searches of a town")).json()["id"])
    move(service, made, "open-opt-in", "draft")
    return made


def test_an_operator_invites_people(
    open_page: OpenPage, service: LiveService, campaign: str
) -> None:
    page = open_page(f"#/campaigns/{campaign}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card = page.get_by_role("region", name="Invite people")
    link = f"{service.url}/join/{campaign}"
    expect(card.get_by_role("link", name=link)).to_be_visible()
    card.get_by_role("button", name="Copy the text").click()
    expect(card.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    for said in (link, "A town library", "privacy@library.example", "You decide what is sent"):
        assert said in copied
    code = card.get_by_role("img", name="QR code of the share page")
    expect(code).to_have_js_property("complete", value=True)
    assert code.evaluate("image => image.naturalWidth") > 0
    card.get_by_role("link", name=link).click()
    expect(page.get_by_role("heading", name="What each choice sends")).to_be_visible()


def test_a_released_campaign_invites_nobody(open_page: OpenPage, released: tuple[str, str]) -> None:
    page = open_page(f"#/campaigns/{released[0]}")
    expect(page.get_by_role("heading", name="State")).to_be_visible()
    expect(page.get_by_role("heading", name="Invite people")).to_have_count(0)
    page.goto(page.url.partition("#")[0] + f"join/{released[0]}")
    page.get_by_role("link", name="See the result").click()
    expect(page.get_by_role("heading", name=re.compile("What is popular"))).to_be_visible()


def test_the_share_page_suits_every_reader_and_every_window(
    open_page: OpenPage, campaign: str, axe: str
) -> None:
    page = open_page(f"join/{campaign}", role=None)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page, axe) == [], scheme
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"innerWidth === {width}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_share_page_needs_no_script(
    chromium: Browser, service: LiveService, campaign: str
) -> None:
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{service.url}/join/{campaign}")
        expect(page.get_by_role("heading", name="Searches of a town")).to_be_visible()
        expect(page.get_by_text("A town library").first).to_be_visible()
        expect(page.get_by_text("Open now, until the organisation closes it.")).to_be_visible()
        expect(page.get_by_text("98.3 %")).to_be_visible()
