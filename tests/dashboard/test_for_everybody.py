"""Every page can be used without a mouse or eyes, in light and dark, on a phone and on a wall."""

import json
from collections.abc import Callable
from typing import Literal

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import LiveService, new_campaign
from playwright.sync_api import Page, expect

from blender_dp.service.http.access import Role

pytestmark = pytest.mark.browser
WIDTHS = (360, 1024, 1920)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES: dict[str, tuple[str, str]] = {
    "campaigns": ("#/campaigns", "Campaigns"),
    "new": ("#/new", "New campaign"),
    "edit": ("#/edit/{2}", "Edit the draft"),
    "draft": ("#/campaigns/{2}", "Try it with simulated devices"),
    "duplicate": ("#/new?like={1}", "New campaign"),
    "overview": ("#/campaigns/{1}", "State"),
    "head list": ("#/campaigns/{1}/head-list", "Signed and logged"),
    "release": ("#/campaigns/{1}/release", "Every promise is kept."),
    "downloads": ("#/campaigns/{1}/downloads", "Downloads"),
    "privacy": ("#/campaigns/{1}/privacy", "What happens with what you search for"),
    "trends": ("#/trends?now={1}&before={0}", "Trends"),
    "search": ("#/search?in={1}", "Local search"),
}
Visit = Callable[..., Page]
OVERLAPPING = """(() => {
  const cards = [...document.querySelectorAll('.card')].map((card) => [card.innerText.slice(0, 40),
    card.getBoundingClientRect()]);
  return cards.flatMap(([name, a], at) => cards.slice(at + 1).flatMap(([other, b]) =>
    a.top < b.bottom - 1 && b.top < a.bottom - 1 && a.left < b.right - 1 && b.left < a.right - 1
      ? [`${name} / ${other}`] : []));
})()"""
"""Pairs of cards of which one lies on the other."""


@pytest.fixture(scope="session")
def draft(service: LiveService) -> str:
    """Return a campaign that is not open yet."""
    with service.http as http:
        return str(http.post("/campaigns", json=new_campaign("A draft")).json()["id"])


@pytest.fixture
def visit(open_page: OpenPage, released: tuple[str, str], draft: str) -> Visit:
    """Return a function that opens a page and waits until it is drawn."""

    def visited(name: str, **options: object) -> Page:
        address, heading = PAGES[name]
        page = open_page(address.format(*released, draft), **options)
        expect(page.get_by_role("heading", name=heading).first).to_be_visible()
        expect(page.get_by_text("Fetching …")).to_have_count(0)
        for chart in page.locator(".chart").all():
            expect(chart.locator("svg")).to_be_visible()
        return page

    return visited


def violations(page: Page, axe: str) -> list[str]:
    """Return what axe finds."""
    if not page.evaluate("'axe' in window"):  # it is long, and stays until the page is left
        page.evaluate(axe)
    found = json.loads(page.evaluate("axe.run().then((found) => JSON.stringify(found.violations))"))
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_suits_every_reader_and_every_window(visit: Visit, axe: str, name: str) -> None:
    page = visit(name)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page, axe) == [], scheme
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"innerWidth === {width}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERLAPPING) == []


def test_axe_finds_nothing_at_the_door_and_in_a_question(
    open_page: OpenPage, service: LiveService, axe: str
) -> None:
    door = open_page(role=None)
    expect(door.get_by_label("API token")).to_be_visible()
    with service.http as http:
        made = http.post("/campaigns", json=new_campaign("To be purged")).json()
    asked = open_page(f"#/campaigns/{made['id']}")
    asked.get_by_role("button", name="Purge").click()
    expect(asked.get_by_role("dialog")).to_be_visible()
    for page in (door, asked):
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert violations(page, axe) == [], scheme


def test_a_long_name_stays_beside_its_state(open_page: OpenPage, service: LiveService) -> None:
    with service.http as http:
        made = http.post("/campaigns", json=new_campaign("W" * 200)).json()
    boxes = "['h1', '.page-head .state-badge'].map((part) => document.querySelector(part)"
    boxes += ".getBoundingClientRect()).map((box) => [box.right, box.left, box.bottom, box.top])"
    for width in WIDTHS:
        page = open_page(f"#/campaigns/{made['id']}", width=width)
        expect(page.locator(".page-head .state-badge")).to_be_visible()
        name, state = page.evaluate(boxes)
        assert name[0] <= state[1] or name[2] <= state[3]
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_does_find_what_is_wrong(visit: Visit, axe: str) -> None:
    """The tests above have teeth: an image without words and a faint text are found."""
    page = visit("downloads")
    page.evaluate(
        "document.querySelector('main').innerHTML += '<img src=\"./mark.svg\">';"
        "document.querySelector('h1').style.color = 'rgb(200, 200, 200)'"
    )
    assert {line.partition(":")[0] for line in violations(page, axe)} == {
        "image-alt",
        "color-contrast",
    }


def test_the_keyboard_reaches_the_page_and_its_moves(visit: Visit) -> None:
    page = visit("overview")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    for _ in range(6):  # five parts of the campaign, then what comes next
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="See the release")).to_be_focused()
    page.get_by_role("button", name="Purge").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Purge")).to_be_focused()


def test_colours_follow_the_system(visit: Visit) -> None:
    grounds = {
        visit("campaigns", scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in SCHEMES
    }
    assert len(grounds) == 2


def test_nobody_needs_a_token_for_what_is_public(visit: Visit) -> None:
    for name in ("overview", "head list", "release", "downloads", "privacy"):
        expect(visit(name, role=None).get_by_role("button", name="Sign out")).to_have_count(0)


def test_an_auditor_may_look_but_not_move(visit: Visit) -> None:
    page = visit("overview", role=Role.AUDITOR)
    expect(page.get_by_role("button", name="Purge")).to_have_count(0)
