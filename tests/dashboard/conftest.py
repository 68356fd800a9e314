"""The dashboard in a browser, over a real service; complaints and strange requests fail a test."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dashboard.live_service import ASSETS, LiveService, live_service, released_campaign
from playwright.sync_api import Browser, Page
from tabs import Tabs

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


@pytest.fixture(scope="module")
def tabs(chromium: Browser) -> Iterator[Tabs]:
    """Return the pages that the tests of a module share."""
    with chromium.new_context(accept_downloads=True) as context:
        yield Tabs(context)


@pytest.fixture
def open_page(tabs: Tabs, service: LiveService) -> Iterator[OpenPage]:
    """Return a function that opens a page, signed in unless ``role`` is None."""

    def open_one(
        address: str = "",
        *,
        role: Role | None = Role.OPERATOR,
        width: int = 1024,
        scheme: str = "light",
    ) -> Page:
        page = tabs.take(width=width, scheme=scheme)
        if role is not None:
            page.goto(f"{service.url}/health")  # no program runs there
            token = service.tokens[role]
            page.evaluate(f"sessionStorage.setItem('blender-dp-token', '{token}')")
        page.goto(f"{service.url}/{address}")
        return page

    with tabs.watched() as seen:
        yield open_one
    assert [text for kind, text in seen.complaints if _is_complaint(kind, text)] == []
    own = (f"{service.url}/", "blob:", "file:")
    assert [url for url in seen.addresses if not url.startswith(own)] == []


def _is_complaint(kind: str, text: str) -> bool:
    # A request that was meant to be refused is no fault of the page.
    return kind in ("error", "warning") and not re.search("status of (4|503)", text)
