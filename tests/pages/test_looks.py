"""The offline pages for every reader: contrast, names for tools, printing, visible marks."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from pages.conftest import OpenReport
from pages.report_inputs import make_release, make_run
from pages.test_page_in_browser import choose
from pages.test_plan_page import a_plan
from pages.test_trends_page import make_trends
from playwright.sync_api import Browser, Page

from blender_dp.pages.html_report import render_report
from blender_dp.pages.plan_page import render_plan
from blender_dp.pages.trends_page import render_trends

pytestmark = pytest.mark.browser

DRIFT = {
    "p_value": 0.2,
    "sentence": "No difference was found.",
    "widest": [{"query": "a", "z": 2.0}, {"query": "b", "z": -1.0}],
}


def violations(page: Page, axe: str) -> list[str]:
    if not page.evaluate("'axe' in window"):  # it is long, and stays until the page is left
        page.evaluate(axe)
    found = json.loads(page.evaluate("axe.run().then((found) => JSON.stringify(found.violations))"))
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("name", ["report", "trends", "plan"])
def test_axe_finds_nothing(chromium: Browser, tmp_path: Path, axe: str, name: str) -> None:
    path = tmp_path / "page.html"
    texts = {
        "report": lambda: render_report(make_release() | {"drift": DRIFT}, make_run()),
        "trends": lambda: render_trends(make_trends()),
        "plan": lambda: render_plan(a_plan()),
    }
    path.write_text(texts[name](), encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    for width, scheme in ((1024, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # light or dark
        assert violations(page, axe) == [], scheme
    page.close()


def test_a_printed_report_has_all_rows(open_report: OpenReport) -> None:
    page = open_report(make_release(150, 160), make_run())
    choose(page, "ranking-rows", "all")
    count = """() => { window.counted = ['#estimates tbody tr', '.ranking-row'].map(
      (rows) => document.querySelectorAll(rows).length); return window.counted; }"""
    shown = page.evaluate(count)
    assert shown[0] == 50
    assert shown[1] < 150
    page.evaluate(f"() => window.addEventListener('beforeprint', {count})")
    page.pdf()
    assert page.evaluate("window.counted") == [151, 150]
    assert page.evaluate(count) == shown
    page.emulate_media(media="print")
    heads = "[...document.querySelectorAll('thead button')].map((b) => getComputedStyle(b).display)"
    assert set(page.evaluate(heads)) == {"contents"}  # as buttons they are on the first page only


def test_no_style_changes_the_case_of_a_letter(open_report: OpenReport) -> None:
    """ε in upper case is E."""
    page = open_report(make_release(), make_run())
    changed = page.evaluate(
        "[...document.querySelectorAll('*')].filter((node) =>"
        " getComputedStyle(node).textTransform !== 'none').length"
    )
    assert changed == 0


def test_a_phone_shows_the_bars_that_the_comparison_speaks_of(open_report: OpenReport) -> None:
    page = open_report(make_release() | {"drift": DRIFT}, make_run(), width=360)
    for track in page.locator("#drift-rows .drift-track").all():
        box = track.bounding_box()
        assert box is not None
        assert box["width"] > 100


def test_crowded_marks_keep_their_colour_and_ticks_do_not_touch(open_report: OpenReport) -> None:
    page = open_report(make_release(230, 474), make_run(), width=360)
    for kind in (".curve-points", ".weight-points"):
        marks = page.locator(kind).first
        assert marks.evaluate("(node) => getComputedStyle(node).stroke") == "none"
    boxes = page.locator("#shape-plane .tick-text[text-anchor=middle]").evaluate_all(
        "(nodes) => nodes.map((node) => node.getBoundingClientRect()).map((b) => [b.left, b.right])"
    )
    assert len(boxes) >= 3
    assert all(left[1] < right[0] for left, right in pairwise(boxes))
