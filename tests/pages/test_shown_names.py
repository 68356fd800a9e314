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
