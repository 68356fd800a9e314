"""The built extension, a search engine, and a service; one of each for all tests of a process."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from extension.collection import Collection, new_campaign
from extension.person import WEB, Person, built_extension, person
from extension.search_engine import search_engine
from playwright.sync_api import Page
from running_service import RunningService, running_service

NewPerson = Callable[[Path], AbstractContextManager[Person]]
Look = Callable[..., None]
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="session")
def new_person(tmp_path_factory: pytest.TempPathFactory) -> NewPerson:
    """Return a function that starts a browser with the extension, on a profile."""
    return partial(person, built_extension(tmp_path_factory.mktemp("extension")))


@pytest.fixture(scope="session")
def engine_port() -> Iterator[int]:
    with search_engine() as port:
        yield port


@pytest.fixture(scope="session")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Return a service that all tests of this process share."""
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def collection(collector: RunningService) -> Collection:
    """Return a campaign of its own that takes contributions from anybody."""
    return new_campaign(collector.url, collector.token)


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Return a function that looks at a page: light and dark, narrow and wide, with axe.

    With ``BLENDER_PICTURES=1`` what it saw lies in the test's folder, for people to look at.
    """
    script = WEB / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        pytest.fail("axe is not installed: make .make/web", pytrace=False)
    axe = script.read_text(encoding="utf-8")

    def look_at(page: Page, name: str, *widths: int) -> None:
        for width in widths or (360, 1024, 1920):
            for scheme in SCHEMES:
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                if "BLENDER_PICTURES" in os.environ:
                    page.screenshot(path=tmp_path / f"{name}-{width}-{scheme}.png", full_page=True)
                assert obstacles(page, axe) == [], (name, width, scheme)
                wider = page.evaluate(
                    "(root => root.scrollWidth - root.clientWidth)(document.documentElement)"
                )
                assert wider <= 0, f"{name} must be scrolled sideways at {width}"

    return look_at


def obstacles(page: Page, axe: str) -> list[str]:
    """Return what stands in the way of people who do not see or use a mouse."""
    if not page.evaluate("'axe' in window"):  # it is long, and stays until the page is left
        page.evaluate(f"() => {{ {axe}; }}")
    found = page.evaluate("axe.run()")
    return [f"{one['id']}: {node['html']}" for one in found["violations"] for node in one["nodes"]]
