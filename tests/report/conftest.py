"""A browser for the tests of the page: Debian's Chromium, driven by playwright."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from blender_dp.report.html_report import render_report

CHROMIUM_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

OpenReport = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    executable = shutil.which("chromium")
    if executable is None:
        pytest.fail("the browser tests need Chromium: apt-get install -y chromium", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(CHROMIUM_ARGUMENTS)
        )
        yield browser
        browser.close()


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
