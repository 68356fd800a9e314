"""What the page is made of, read without a browser."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from importlib.resources import files
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages.report_inputs import empty_release, make_release, make_run, with_query

from blender_dp.pages import html_report, plan_page, trends_page
from blender_dp.pages.html_report import render_report
from blender_dp.pages.offline_page import _without_module_lines

BESIDE_THE_PAGE = {
    "records.csv",
    "records.parquet",
    "queries.csv",
    "queries.parquet",
    "head_list.json",
    "release.json",
    "run.json",
}

NASTY = (
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>&lt;b&amp;",
    "line\u2028and\u2029paragraph",
    "\u202emirrored",
    "שלום עולם",
    "天気予報",
    "$figures ${script} $$",
    "\ud800 alone",
    "\x00\x1f",
    '"quoted" \\ and \'',
    "★",
    "everything else",
)


class Page(HTMLParser):
    """The tags of a page with their attributes, and the figures that lie in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.json = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][1].get("id") == "figures":
            self.json += data

    @property
    def figures(self) -> Any:
        return json.loads(self.json)

    @property
    def policy(self) -> str:
        policies = [a["content"] for tag, a in self.tags if "http-equiv" in a]
        assert len(policies) == 1
        assert policies[0] is not None
        return policies[0]


def embedded(html: str, tag: str) -> str:
    """Return the text between a tag and its end as a browser hashes it."""
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("text", NASTY)
def test_what_a_user_typed_comes_back_unchanged_and_adds_no_markup(text: str) -> None:
    usual = Page(render_report(make_release(), make_run()))
    page = Page(render_report(with_query(make_release(), text), make_run()))
    assert page.figures["release"]["queries"][1]["query"] == text
    assert page.tags == usual.tags


@settings(deadline=None)  # each example reads and hashes all assets
@given(st.text())
def test_any_text_comes_back_unchanged_and_adds_no_markup(text: str) -> None:
    page = Page(render_report(with_query(make_release(3, 4), text), {}))
    assert page.figures["release"]["queries"][1]["query"] == text
    assert [tag for tag, _ in page.tags].count("script") == 2


def test_the_figures_are_ascii_without_signs_of_markup() -> None:
    html = render_report(with_query(make_release(), "".join(NASTY)), make_run())
    (figures,) = re.findall(r'id="figures">(.*?)</script>', html, flags=re.DOTALL)
    assert figures.isascii()
    assert not set("<>&") & set(figures)


def test_the_page_can_be_written_as_utf_8_whatever_was_typed() -> None:
    render_report(with_query(make_release(), "\ud800"), make_run()).encode("utf-8")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_lacks_becomes_null_at_any_depth(number: float) -> None:
    release, run = make_release(), make_run()
    release["records"][0]["std_error"] = number
    run["certificate"]["parts"] = [{"epsilon": number}, (number, 1.5)]
    figures = Page(render_report(release, run)).figures
    assert figures["release"]["records"][0]["std_error"] is None
    assert figures["run"]["certificate"]["parts"] == [{"epsilon": None}, [None, 1.5]]


def test_the_inputs_are_not_changed() -> None:
    release, run = make_release(), make_run()
    release["records"][0]["std_error"] = math.inf
    render_report(release, run)
    assert release["records"][0]["std_error"] == math.inf
    assert run == make_run()


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else() -> None:
    html = render_report(make_release(), make_run())
    assert Page(html).policy.split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{sha256(embedded(html, 'script'))}'",
        f"style-src 'sha256-{sha256(embedded(html, 'style'))}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_page_refers_to_nothing_but_itself_and_the_files_beside_it() -> None:
    page = Page(render_report(make_release(), make_run()))
    links = [a["href"] for _, a in page.tags if "href" in a]
    assert all(not {"src", "srcset", "action", "poster", "data"} & set(a) for _, a in page.tags)
    beside = {link for link in links if link and not link.startswith(("#", "data:"))}
    assert beside == BESIDE_THE_PAGE


def test_style_and_script_fetch_nothing() -> None:
    html = render_report(make_release(), make_run())
    style, script = embedded(html, "style"), embedded(html, "script")
    assert not re.search(r"url\(|@import|https?:", style)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|import)\b *\(", script)
    assert re.findall(r"https?://[^\"'` ]*", script) == ["http://www.w3.org/2000/svg"]


def test_the_script_never_parses_markup() -> None:
    script = embedded(render_report(make_release(), make_run()), "script")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|srcdoc"
    assert not re.search(forbidden, script)


def test_no_element_has_a_style_or_a_listener_in_the_markup() -> None:
    for _, attributes in Page(render_report(make_release(), make_run())).tags:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_every_reference_between_elements_is_met() -> None:
    page = Page(render_report(make_release(), make_run()))
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    script = embedded(render_report(make_release(), make_run()), "script")
    wanted = set(re.findall(r'byId\("([^"]+)"\)', script))
    wanted |= {str(a["aria-labelledby"]) for _, a in page.tags if "aria-labelledby" in a}
    wanted |= {str(a["href"])[1:] for _, a in page.tags if str(a.get("href")).startswith("#")}
    assert wanted <= set(ids)


def test_a_module_becomes_a_plain_script() -> None:
    module = 'import { b } from "./b.js";\n\nexport const A = b;\nexport function f() {}\nlet x;\n'
    assert _without_module_lines(module) == "\nconst A = b;\nfunction f() {}\nlet x;\n"
    for wrong in ("import {\n b } from 'b';\n", "export default 1;\n", "export { x };\n"):
        with pytest.raises(ValueError, match="takes one line"):
            _without_module_lines(wrong)


def test_every_asset_is_in_a_page() -> None:
    folders = (files("blender_dp.pages") / "assets").iterdir()
    assets = {f"{folder.name}/{file.name}" for folder in folders for file in folder.iterdir()}
    pages = (html_report.PAGE, trends_page.PAGE, plan_page.PAGE)
    assert assets == set().union(*(page.assets for page in pages))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_intervals_of_the_groups_have_the_confidence_of_the_release(confidence: float) -> None:
    figures = Page(render_report(make_release() | {"confidence": confidence}, {})).figures
    quantile = figures["normal_quantile"]
    normal = NormalDist()
    assert normal.cdf(quantile) - normal.cdf(-quantile) == pytest.approx(confidence)


@pytest.mark.parametrize("confidence", [None, "high", 0, 1, math.nan])
def test_an_unusable_confidence_is_read_as_95_percent(confidence: object) -> None:
    figures = Page(render_report(make_release() | {"confidence": confidence}, {})).figures
    assert figures["normal_quantile"] == pytest.approx(1.95996, abs=1e-5)


@pytest.mark.parametrize("release", [{}, {"records": [], "queries": []}, empty_release()])
def test_a_release_with_little_in_it_still_gives_a_page(release: dict[str, Any]) -> None:
    assert Page(render_report(release, {})).figures["run"] == {}
