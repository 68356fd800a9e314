"""Pictures of the pages that people see, for README and site: ``make pictures``.

Synthetic data only. Every picture is one screen of a page, in at most 256 colours, below 100 kB.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from running_service import RunningService, running_service

FOLDER = Path(__file__).parent / "pictures"
MOST_BYTES = 100_000
COLOURS = 256
SIZE = {"width": 1100, "height": 760}
USERS = "300000"
SETTLED = 1500.0
"""Milliseconds after which charts are drawn."""


def main() -> None:
    """Make the pages in a temporary folder and take a picture of each."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        folder = Path(name)
        _picture_files(browser, folder)
        with running_service(folder) as service:
            _picture_service(browser, service)
        browser.close()


def _picture_files(browser: Browser, folder: Path) -> None:
    """Take pictures of the pages that commands write."""
    now, before = folder / "now.parquet", folder / "before.parquet"
    _run("synth", "--users", USERS, "-o", now)
    _make_earlier_log(now, before)
    promise = ("--epsilon", "4", "--delta", "1e-7", "--opt-in", "0.1", "--head-list-size", "50")
    for log in (now, before):
        _run("run", log, *promise, "-o", folder / log.stem)
    releases = [folder / log.stem / "release.json" for log in (now, before)]
    _run("trends", *releases, "-o", folder / "trends.html")
    about = folder / "about.toml"
    about.write_text(
        'name = "Popular searches"\ncurator = "Library of Example"\n', encoding="utf-8"
    )
    _run("certify", folder / "now", "--label", FOLDER / "privacy-label.svg", "--about", about)
    _run("plan", "--users", USERS, "--epsilon", "4", "--delta", "1e-7", "-o", folder / "plan")
    for picture, path in (
        ("report", folder / "now" / "report.html"),
        ("trends", folder / "trends.html"),
        ("plan", folder / "plan" / "plan.html"),
    ):
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]  # two whole numbers
        page.goto(path.as_uri())
        if picture == "report":
            page.get_by_text("10", exact=True).first.click()  # ten rows of the ranking
        page.mouse.move(0, 0)
        page.evaluate("window.scrollTo(0, document.querySelector('h2').offsetTop - 110)")
        _save(page, picture)


def _make_earlier_log(log: Path, earlier: Path) -> None:
    """Write a log in which two queries are less popular than in the first one."""
    table = pq.read_table(log)
    is_risen = pc.is_in(table["query"], value_set=pa.array(["yahoo", "ebay"]))
    is_earlier = pc.match_substring_regex(table["user"], "[02468]$")
    kept = pc.or_(pc.invert(is_risen), is_earlier)
    pq.write_table(table.filter(kept), earlier)


def _picture_service(browser: Browser, service: RunningService) -> None:
    """Take pictures of the dashboard, with a campaign of simulated devices."""
    told = _run(
        *("devices", "--drive", "--service", service.url, "--count", "60000", "--opt-in", "0.1"),
        *("--operator-token-file", service.token_file, "--epsilon", "4", "--delta", "1e-5"),
        "--json",
    )
    campaign = json.loads(told)["campaign"]
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]  # two whole numbers
    page.goto(service.url)
    page.get_by_label("API token").fill(service.token)
    page.get_by_role("button", name="Sign in").click()
    for picture, address in (
        ("dashboard-campaigns", "#/campaigns"),
        ("dashboard-new-campaign", "#/new"),
        ("dashboard-overview", f"#/campaigns/{campaign}"),
        ("dashboard-head-list", f"#/campaigns/{campaign}/head-list"),
        ("dashboard-release", f"#/campaigns/{campaign}/release"),
        ("dashboard-privacy", f"#/campaigns/{campaign}/privacy"),
        ("share-page", f"join/{campaign}"),
    ):
        page.goto(f"{service.url}/{address}")
        _save(page, picture)


def _save(page: Page, name: str) -> None:
    """Write what the page shows, with few colours."""
    page.wait_for_timeout(SETTLED)
    shown = Image.open(BytesIO(page.screenshot())).convert("RGB")
    path = FOLDER / f"{name}.png"
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path.name} has more than {MOST_BYTES:,} bytes")
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


def _run(*words: object) -> str:
    """Run a command of blender-dp and return what it prints."""
    command = [sys.executable, "-m", "blender_dp.cli", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    main()
