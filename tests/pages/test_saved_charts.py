"""Charts of the report, saved as files."""

import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pages.conftest import OpenReport
from pages.report_inputs import make_release, make_run, with_query
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


def test_every_chart_is_saved_as_svg_that_needs_no_style_sheet_and_as_png(
    open_report: OpenReport, chromium: Browser, tmp_path: Path
) -> None:
    page = open_report(with_query(make_release(), "a<b>&\x00\u202e"), make_run())
    for chart in ("ranking", "shape", "weights"):
        for kind in ("SVG", "PNG"):
            with page.expect_download() as saved:
                page.locator(f"#{chart}").get_by_role("button", name=f"Save as {kind}").click()
            saved.value.save_as(tmp_path / saved.value.suggested_filename)
        root = ET.parse(tmp_path / f"{chart}.svg").getroot()  # noqa: S314 - made by our own page
        title = root.findtext(f"{SVG}title")
        assert title
        assert [node for node in root.iter(f"{SVG}path") if node.get("fill", "").startswith("rgb")]
        width, height = struct.unpack(">II", (tmp_path / f"{chart}.png").read_bytes()[16:24])
        assert (width, height) == (
            2 * float(root.get("width", 0)),
            2 * float(root.get("height", 0)),
        )
    texts = [node.text for node in ET.parse(tmp_path / "ranking.svg").iter(f"{SVG}text")]  # noqa: S314
    assert "1. a<b>&\ufffd\ufffd" in texts
    assert len([text for text in texts if text and text[0].isdigit() and ". " in text]) == 25
    other = chromium.new_page()
    other.goto((tmp_path / "ranking.svg").as_uri())
    other.screenshot(path=tmp_path / "ranking-seen.png")
    other.close()
