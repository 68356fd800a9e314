"""The page of a run in a browser."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from blender_dp.pages.html_report import render_report

OpenReport = Callable[..., Page]


@pytest.fixture
def open_report(chromium: Browser, tmp_path: Path) -> Iterator[OpenReport]:
    """Return a function that opens a report offline; complaints and requests fail the test."""
    complaints: list[str] = []
    requests: list[str] = []
    context = chromium.new_context(offline=True, accept_downloads=True)
    context.on("request", lambda request: requests.append(request.url))

    def open_page(release: Mapping[str, Any], run: Mapping[str, Any], *, width: int = 1200) -> Page:
        path = tmp_path / "report.html"
        path.write_text(render_report(release, run), encoding="utf-8")
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path.as_uri())
        return page

    yield open_page
    context.close()
    own = (tmp_path / "report.html").as_uri()
    elsewhere = [url for url in requests if url != own and not url.startswith(("blob:", "data:"))]
    assert complaints == []
    assert elsewhere == []
