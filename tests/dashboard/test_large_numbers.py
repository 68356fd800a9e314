"""A hundred campaigns and a release of three thousand cells stay usable."""

import json
import re
from typing import Any
from uuid import UUID

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import LiveService
from playwright.sync_api import Page, Route, expect

pytestmark = pytest.mark.browser
QUERIES = 1000
"""With three cells each and one for everything else: 3,001 rows."""
CAMPAIGNS = 230


def row(number: int, **names: Any) -> dict[str, Any]:
    share = 0.02 / (number + 1)
    return {
        "probability": share,
        "raw_probability": share,
        "std_error": 1e-4,
        "low": max(share - 2e-4, 0.0),
        "high": share + 2e-4,
        "client_probability": share,
        "client_std_error": 2e-4,
        "opt_in_probability": share,
        "opt_in_std_error": 2e-4,
        "opt_in_weight": 0.5,
        **names,
    }


def large(release: dict[str, Any]) -> dict[str, Any]:
    """Return a release with 1,000 queries of three cells each."""
    rest = [one for one in release["queries"] if one["cell"] == "other"]
    names = [f"query number {n} with a name that goes on and on" for n in range(QUERIES)]
    queries = [row(n, cell="query", query=name) for n, name in enumerate(names)]
    records = [
        row(3 * n + place, cell=cell, query=name, url=url)
        for n, name in enumerate(names)
        for place, (cell, url) in enumerate(
            [
                ("record", f"https://a-{n}.example/"),
                ("record", f"https://b-{n}.example/"),
                ("other_url", None),
            ]
        )
    ]
    other = [{**one, "url": None} for one in rest]
    return {**release, "queries": [*rest, *queries], "records": [*other, *records]}


@pytest.fixture
def large_page(open_page: OpenPage, service: LiveService, released: tuple[str, str]) -> Page:
    with service.http as http:
        release = http.get(f"/campaigns/{released[0]}/release").json()
    page = open_page("#/campaigns")
    body = json.dumps(large(release))
    page.route(
        "**/release", lambda route: route.fulfill(body=body, content_type="application/json")
    )
    page.goto(f"{service.url}/#/campaigns/{released[0]}/release")
    return page


def test_a_chart_draws_fifty_rows_and_the_table_has_all(large_page: Page) -> None:
    page = large_page
    page.get_by_text("Records", exact=True).first.click()
    page.get_by_role("group", name="Top").get_by_text("50").click()
    chart = page.get_by_role("img", name=re.compile("most popular records"))
    expect(chart.locator("[aria-label=dot] > *")).to_have_count(50)
    table = page.get_by_role("table", name="All records of the release")
    expect(table.locator("tbody tr")).to_have_count(50)
    expect(page.get_by_text("Rows 1 to 50 of 3,001")).to_be_visible()
    # Elements on the page stay few, however many cells there are.
    assert page.evaluate("document.querySelectorAll('*').length") < 6000


def test_a_printed_table_has_all_rows(large_page: Page) -> None:
    rows = large_page.get_by_role("table", name="All queries of the release").locator("tbody tr")
    expect(rows).to_have_count(50)
    large_page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == QUERIES + 1
    large_page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(rows).to_have_count(50)


def test_the_table_is_sorted_filtered_and_paged(large_page: Page) -> None:
    page = large_page
    table = page.get_by_role("table", name="All queries of the release")
    page.get_by_label("Filter: All queries of the release").fill("NUMBER 99")
    expect(page.get_by_text("Rows 1 to 11 of 11")).to_be_visible()
    table.get_by_role("button", name="Query").click()
    expect(table.locator("tbody th").first).to_contain_text("number 99 ")
    table.get_by_role("button", name="Query").click()
    expect(table.locator("tbody th").first).to_contain_text("number 999 ")
    page.get_by_label("Filter: All queries of the release").fill("")
    page.get_by_role("button", name="Next").first.click()
    expect(page.get_by_text("Rows 51 to 100 of 1,001")).to_be_visible()


def test_every_campaign_is_listed_page_by_page(
    open_page: OpenPage, service: LiveService, released: tuple[str, str]
) -> None:
    with service.http as http:
        one = http.get(f"/campaigns/{released[0]}").json()
    made = [{**one, "id": str(UUID(int=n + 1)), "name": f"Week {n}"} for n in range(CAMPAIGNS)]

    def answer(route: Route) -> None:
        after = re.search(r"after=([0-9a-f-]+)", route.request.url)
        start = UUID(after[1]).int if after else 0
        route.fulfill(json={"campaigns": made[start : start + 100]})

    page = open_page("#/new")
    page.route("**/v1/campaigns?*", answer)
    page.get_by_role("link", name="Campaigns").click()
    expect(page.get_by_text(f"Rows 1 to 50 of {CAMPAIGNS}")).to_be_visible()
    page.get_by_label("Filter: All campaigns").fill("Week 229")
    page.get_by_role("link", name="Week 229").click()
    expect(page.get_by_role("alert")).to_have_text("There is no such campaign. All campaigns")
