"""The page of a head list checks it as a device does."""

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import LiveService
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_published_list_fits(open_page: OpenPage, released: tuple[str, str]) -> None:
    page = open_page(f"#/campaigns/{released[0]}/head-list")
    expect(page.get_by_text("Signature, digest and log entry fit.")).to_be_visible()


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("query", "digest"),
        ("signature", "signature must be that of the public key"),
        ("campaign", "campaign must be the one that was asked for"),
    ],
)
def test_a_list_that_was_changed_on_its_way_does_not(
    open_page: OpenPage, service: LiveService, released: tuple[str, str], part: str, problem: str
) -> None:
    with service.http as http:
        published, other = (http.get(f"/campaigns/{one}/head-list").json() for one in released)
    if part == "query":
        published["head_list"]["queries"][0]["query"] += " and more"
    elif part == "signature":
        published["signature"] = other["signature"]
    else:
        published = other
    page = open_page("#/campaigns")
    page.route("**/head-list", lambda route: route.fulfill(json=published))
    page.goto(f"{service.url}/#/campaigns/{released[0]}/head-list")
    expect(page.get_by_text("They do not fit, and devices refuse this list")).to_contain_text(
        problem
    )
