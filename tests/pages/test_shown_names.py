"""Names that users typed, as the pages show them."""

import re
from importlib.resources import files

import pytest
from pages.conftest import OpenReport
from pages.report_inputs import make_release, make_run, with_query
from pages.test_page_in_browser import choose
from playwright.sync_api import Browser

from blender_dp.core.head_list.visible_names import visible

pytestmark = pytest.mark.browser

DECEIVING = "weather\u202egnp.exe"
TEXTS_OF_THE_PAGE = """() => [document.title, document.body.innerText,
  ...[...document.body.querySelectorAll('*')].filter((node) => node.tagName !== 'SCRIPT')
    .flatMap((node) => [...node.attributes].map(({ value }) => value))].join(' ')"""


def test_no_sign_of_a_name_turns_a_text_anywhere_on_the_page(open_report: OpenReport) -> None:
    release = with_query(make_release(), DECEIVING)
    release["drift"] = {"p_value": 0.5, "widest": [{"query": DECEIVING, "z": 2.0}]}
    page = open_report(release, make_run())
    for what in ("queries", "records"):
        choose(page, "ranking-what", what)
        choose(page, "table-what", what)
        page.locator(".ranking-row").first.hover()
        text = page.evaluate(TEXTS_OF_THE_PAGE)
        assert visible(DECEIVING) in text
        assert "\u202e" not in text


def test_the_report_uses_the_readers_nouns_and_title(open_report: OpenReport) -> None:
    names = {"query": "category", "url": "state"}
    run = make_run() | {"names": names, "title": "Sales <b>by state</b>"}
    release = make_release() | {"preset": "sharp"}
    release["queries"][1]["probability"] = 0.9  # outside the estimates of both groups
    page = open_report(release, run | {"notes": []})
    assert "the blend lies outside the estimates of both groups" in page.inner_text("#ranking")
    assert page.inner_text("h1") == "Sales <b>by state</b>"
    assert page.title() == "Sales <b>by state</b>"
    assert "50 categories and 72 records (a category with a state)" in page.inner_text("#lead")
    choose(page, "table-what", "records")
    heads = page.locator("#estimates thead button").all_inner_texts()
    assert [head.split("\n")[0].rstrip("↕▼ ") for head in heads[:2]] == ["Category", "State"]
    for part in ("#summary", "#ranking", "#shape", "#weights", "#table"):
        words = page.inner_text(part).lower()
        assert not [
            word for word in ("quer", "all searches", "url", "any other page") if word in words
        ], part


def test_the_table_has_estimated_counts(open_report: OpenReport) -> None:
    release = make_release()
    release["queries"][1]["probability"] = 0.02
    page = open_report(release, make_run())
    row = page.locator("#estimates tbody tr").nth(1)
    assert "10,387" in row.inner_text()  # 2 % of 519,371 users
    assert "Each interval holds by itself" in page.inner_text("#ranking-caption")


def test_pages_and_terminal_replace_the_same_signs(chromium: Browser) -> None:
    path = files("blender_dp.pages") / "assets" / "shared" / "visible.js"
    script = re.sub("^export ", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    page = chromium.new_page()
    # Later versions of Unicode have added format signs from U+13430 on.
    found = page.evaluate(
        f"() => {{ {script}; const found = [];"
        "for (let code = 0; code < 0x13430; code += 1) {"
        "  const sign = String.fromCodePoint(code);"
        "  if (visible(sign) !== sign) found.push(code);"
        "} return found; }"
    )
    page.close()
    assert found == [code for code in range(0x13430) if visible(chr(code)) != chr(code)]
    assert 0x202E in found
