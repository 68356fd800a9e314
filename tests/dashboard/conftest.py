"""The dashboard in a browser, over a real service; complaints and strange requests fail a test."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dashboard.live_service import ASSETS, LiveService, live_service, released_campaign
from playwright.sync_api import Browser, BrowserContext, Page

from blender_dp.cli.plan_process import answer_of
from blender_dp.service.http.access import Role

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """Return a service that all tests of this process share."""
    if not (ASSETS / "index.html").is_file():
        pytest.fail("the dashboard is not built: make dashboard", pytrace=False)
    with live_service(tmp_path_factory.mktemp("service"), _predict) as running:
        yield running


def _predict(question: dict[str, Any]) -> dict[str, Any]:
    return answer_of({**question, "draws": 2})


@pytest.fixture(scope="session")
def released(service: LiveService) -> tuple[str, str]:
    """Return two released campaigns, the earlier one first."""
    return released_campaign(service, "Summer"), released_campaign(service, "Autumn")


@pytest.fixture
def open_page(chromium: Browser, service: LiveService) -> Iterator[OpenPage]:
    """Return a function that opens a page, signed in unless ``role`` is None."""
    complaints: list[str] = []
    elsewhere: list[str] = []
    contexts: list[BrowserContext] = []

    def open_one(
        address: str = "",
        *,
        role: Role | None = Role.OPERATOR,
        width: int = 1024,
        scheme: str = "light",
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]  # light or dark
            accept_downloads=True,
        )
        contexts.append(context)
        context.on("request", lambda request: _note_elsewhere(request.url, service, elsewhere))
        page = context.new_page()
        page.on("console", lambda message: _note_complaint(message.type, message.text, complaints))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if role is not None:
            token = service.tokens[role]
            page.add_init_script(f"sessionStorage.setItem('blender-dp-token', '{token}')")
        page.goto(f"{service.url}/{address}")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []
    assert elsewhere == []


def _note_elsewhere(url: str, service: LiveService, elsewhere: list[str]) -> None:
    if not url.startswith((f"{service.url}/", "blob:", "file:")):
        elsewhere.append(url)


def _note_complaint(kind: str, text: str, complaints: list[str]) -> None:
    # A request that was meant to be refused is no fault of the page.
    if kind in ("error", "warning") and not re.search("status of (4|503)", text):
        complaints.append(text)
