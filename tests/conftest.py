"""The seed of a run, its signals, and the browser and servers that tests share."""

import atexit
import gc
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from narwhals._duckdb import utils as narwhals_duckdb

from postgres_server import PostgresServer, running_postgres

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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

# Examples repeat like the seed does, and no test is timed: that is what benchmarks are for.
settings.register_profile("project", deadline=None, derandomize="BLENDER_SEED" not in os.environ)
settings.load_profile("project")


def pytest_configure() -> None:
    """Give every child process the default handlers, also when the tests run in the background.

    A shell without job control starts ``make test &`` with interrupts ignored, and an ignored
    signal stays ignored in every program that is started from there. A handler does not: it is
    reset. This one does nothing, so the tests themselves still ignore the signal.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, nor later among what was collected.

    Thousands of tests and all modules stay until the end, and every process of the tests collects
    all of them: going through them again and again took half of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        atexit.register(gc.unfreeze)  # or libraries find at the end what still holds on to them


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings in ``src`` only: tests have none, and looking takes time."""
    return [one for one in (yield) if not isinstance(one, DoctestModule)]


MARKS = {"chromium": "browser", "postgres_server": "database", "spark": "spark"}
"""The mark of every test that uses one of these fixtures; `make test-fast` leaves them out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser, a database server or Spark, and begin with Spark's.

    A Spark that has just started takes twenty seconds of CPU to load what its first test needs.
    `make test` gives each process a stretch of the list and moves only the ends of stretches, so
    the first tests are all in one process, and share one Spark.
    """
    for item in items:
        needed = {*getattr(item, "fixturenames", ())} & MARKS.keys()
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if any(value == "postgres" for value in parameters if isinstance(value, str)):
            needed.add("postgres_server")  # its fixture asks for the server by name
        for fixture in needed:
            item.add_marker(MARKS[fixture])
    items.sort(key=_needs_spark, reverse=True)


def _needs_spark(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None


@pytest.fixture
def seed() -> int:
    """Return the run's seed; ``BLENDER_SEED=$RANDOM make test`` draws a new one."""
    return int(os.environ.get("BLENDER_SEED", "20170816"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Share one Spark among the tests of this process."""
    from spark_sessions import spark_for_tests  # noqa: PLC0415 - most tests need none

    with spark_for_tests() as session:
        yield session


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run the tests marked ``anyio`` on asyncio only, as the servers do."""
    return "asyncio"


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'database.sqlite'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return await server.fresh_database()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Return a server of this test process; every test makes a database of its own in it."""
    with running_postgres() as server:
        yield server


_browsers = ExitStack()
_running: list["Browser"] = []
_is_chromium_next = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Note whether the test after this one needs the browser too."""
    needed = nextitem is not None and "chromium" in getattr(nextitem, "fixturenames", ())
    item.config.stash[_is_chromium_next] = needed


@pytest.fixture(scope="module")
def chromium(request: pytest.FixtureRequest) -> "Iterator[Browser]":
    """Return a browser, which goes on to the next module if that begins with a test of it.

    It stops before any other test: its loop would be in the way.
    """
    if not _running:
        _running.append(_browsers.enter_context(_started_chromium()))
    yield _running[0]
    if not request.config.stash[_is_chromium_next]:
        _running.clear()
        _browsers.close()


@contextmanager
def _started_chromium() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

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
def axe() -> str:
    """Return the program that looks for obstacles to people who do not see or use a mouse."""
    script = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        pytest.fail("axe is not installed: make .make/web", pytrace=False)
    return script.read_text(encoding="utf-8")


def pytest_unconfigure() -> None:
    """Let go of DuckDB's types before DuckDB is unloaded, or it complains on standard error."""
    narwhals_duckdb._non_nested_native_to_narwhals_dtype.cache_clear()
