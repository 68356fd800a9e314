"""The page of a run in a browser."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tabs import Tabs

from blender_dp.pages.html_report import render_report

OpenReport = Callable[..., Page]


@pytest.fixture(scope="module")
def tabs(chromium: Browser) -> Iterator[Tabs]:
    """Return the pages that the tests of a module share; they have no network."""
    with chromium.new_context(offline=True, accept_downloads=True) as context:
        yield Tabs(context)


@pytest.fixture
def open_report(tabs: Tabs, tmp_path: Path) -> Iterator[OpenReport]:
    """Return a function that opens a report offline; complaints and requests fail the test."""
    path = tmp_path / "report.html"

    def open_page(release: Mapping[str, Any], run: Mapping[str, Any], *, width: int = 1200) -> Page:
        path.write_text(render_report(release, run), encoding="utf-8")
        page = tabs.take(width=width)
        page.goto(path.as_uri())
        return page

    with tabs.watched() as seen:
        yield open_page
    others = [url for url in seen.addresses if not url.startswith(("blob:", "data:"))]
    assert seen.complaints == []
    assert [url for url in others if url != path.as_uri()] == []
