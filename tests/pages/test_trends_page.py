"""The page of trends: closed to the world, safe for any name, and what it shows."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages.test_html_report import NASTY, embedded, sha256
from pages.test_html_report import Page as Markup
from playwright.sync_api import Page
from tabs import Tabs

from blender_dp.pages.trends_page import render_trends
from blender_dp.search_trends.trends import Trends, trends
from releases import query_row, release_of, without_interval


def make_trends(name: str = "google", *, queries: int = 12, private: bool = True) -> Trends:
    """Return trends whose first query has this name."""
    shares = {f"query {i}": 0.02 / i for i in range(2, queries + 1)}
    now = [query_row(name, 0.03), *(query_row(q, p) for q, p in shares.items())]
    now += [query_row("spoilt", **without_interval(0.001)), query_row("new", 0.004)]
    then = [query_row(name, 0.02), *(query_row(q, p) for q, p in shares.items())]
    then[2] = query_row("query 3", 0.02)
    then += [query_row("spoilt", 0.001), query_row("gone", 0.004)]
    return trends(
        release_of(now, private=private),
        release_of(then, created="2026-10-15T09:00:00Z", unlisted_bound=0.0001),
    )


@pytest.mark.parametrize("text", NASTY)
def test_a_name_comes_back_unchanged_and_adds_no_markup(text: str) -> None:
    page = Markup(render_trends(make_trends(text)))
    assert page.figures["trends"]["ranking"][0]["query"] == text
    assert page.tags == Markup(render_trends(make_trends())).tags


@settings(deadline=None)
@given(st.text())
def test_any_name_comes_back_unchanged(text: str) -> None:
    page = Markup(render_trends(trends(release_of({text: 0.02}))))
    assert page.figures["trends"]["ranking"][0]["query"] == text
    assert [tag for tag, _ in page.tags].count("script") == 2


def test_the_policy_allows_the_pages_own_script_and_style_only() -> None:
    html = render_trends(make_trends())
    assert Markup(html).policy.split("; ")[:3] == [
        "default-src 'none'",
        f"script-src 'sha256-{sha256(embedded(html, 'script'))}'",
        f"style-src 'sha256-{sha256(embedded(html, 'style'))}'",
    ]


def test_the_page_refers_to_nothing_and_parses_no_markup() -> None:
    html = render_trends(make_trends())
    links = [a["href"] or "" for _, a in Markup(html).tags if "href" in a]
    assert all(link.startswith(("#", "data:")) for link in links)
    script, style = embedded(html, "script"), embedded(html, "style")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", script)
    assert not re.search(r"url\(|@import|https?:", style)


def test_every_reference_between_elements_is_met() -> None:
    html = render_trends(make_trends())
    ids = [a["id"] for _, a in Markup(html).tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'byId\("([^"]+)"\)', embedded(html, "script"))) <= set(ids)


def test_the_figures_are_those_of_the_json() -> None:
    found = make_trends()
    written = json.loads(json.dumps(found.document()))
    assert Markup(render_trends(found)).figures == {"trends": written}


@pytest.fixture
def shown(tabs: Tabs) -> Iterator[list[Page]]:
    """Return a page in a list; a complaint of it fails the test."""
    with tabs.watched() as seen:
        yield [tabs.take()]
    assert seen.complaints == []


def opened(page: Page, folder: Path, found: Trends, width: int = 1200) -> Page:
    path = folder / "trends.html"
    path.write_text(render_trends(found), encoding="utf-8")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path.as_uri())
    return page


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_shows_places_groups_and_changes(
    shown: list[Page], tmp_path: Path, width: int
) -> None:
    page = opened(shown[0], tmp_path, make_trends(), width)
    assert page.inner_text("#changes-title") == "2 queries rose and 1 fell"
    assert page.locator("#changes-rows .verdict-rose").count() == 1
    assert page.locator("#new-names .verdict-rose").count() == 1
    assert "gone" in page.inner_text("#left-names")
    assert page.locator("#ranking-rows .ranking-row").first.inner_text().startswith("1")
    assert "cannot be told apart" in page.inner_text("#ranking-rows")
    assert "No interval, no place" in page.inner_text("#ranking-rows")
    assert "flaw F1" in page.inner_text("#notes")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1024])
def test_numbers_of_an_axis_do_not_touch(shown: list[Page], tmp_path: Path, width: int) -> None:
    now, then = ([query_row("risen", p)] for p in (0.0085, 0.006))
    page = opened(shown[0], tmp_path, trends(release_of(now), release_of(then)), width)
    boxes = [tick.bounding_box() for tick in page.locator("#changes-axis .tick:visible").all()]
    places = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
    assert len(places) > 2
    digit = 8
    assert all(after[0] - end > digit for (_, end), after in pairwise(places))


@pytest.mark.browser
def test_lists_of_different_lengths_are_named_and_nothing_is_called_new(
    shown: list[Page], tmp_path: Path
) -> None:
    shares = {f"query {i}": 0.02 / i for i in range(1, 101)}
    found = trends(
        release_of(shares),
        release_of(dict(list(shares.items())[:22]), created="2026-10-15T09:00:00Z"),
    )
    page = opened(shown[0], tmp_path, found)
    assert page.inner_text("#made") == (
        "Release of 15 November 2026 (100 queries) compared with the release of 15 October 2026 "
        "(22 queries)"
    )
    assert page.is_hidden("#new")
    assert "78 queries are on one list only and rarer" in page.inner_text("#notes")


@pytest.mark.browser
def test_names_are_text_and_rows_answer_to_keys_and_pointer(
    shown: list[Page], tmp_path: Path
) -> None:
    page = opened(shown[0], tmp_path, make_trends("<img src=x onerror=alert(1)>", private=False))
    assert page.locator("main img").count() == 0
    assert "<img src=x" in page.inner_text("#ranking-rows")
    assert "not private" in page.inner_text("#banners")
    page.hover("#ranking-rows .ranking-row")
    assert "True place" in page.inner_text("#tooltip")
    page.focus("#ranking-rows .ranking-row")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.index") == "1"
    page.click("#theme-toggle")
    assert page.evaluate("document.documentElement.dataset.theme") in ("dark", "light")


@pytest.mark.browser
@pytest.mark.parametrize(
    "found", [trends(release_of({})), trends(release_of({"a": 0.01}), release_of({}))]
)
def test_little_to_show_is_no_complaint(shown: list[Page], tmp_path: Path, found: Trends) -> None:
    page = opened(shown[0], tmp_path, found)
    assert page.is_hidden("#ranking") == (not found.ranking)
    assert page.is_hidden("#changes") == (not found.changes)
