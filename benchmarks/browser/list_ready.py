"""How soon a head list of 3,000 cells is ready in a browser.

Every visit is a new page of Chromium whose code has not run yet. Counted is the processor time of
the page's thread; the time that passes is printed too, for a quiet machine.
"""

import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.goals import Goal, keep_rows

WEB = Path(__file__).parents[2] / "web"
QUERIES, VISITS = 1_000, 15
ADDRESS = "https://page.example/"


def table() -> str:
    """Return the figures as Markdown; keep the rows of goals."""
    lines = [
        "## A head list of 3,000 cells in Chromium\n",
        "| preset | step | CPU of the page | time that passed |",
        "|---|---|---|---|",
    ]
    goals = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        code = _build(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for preset in ("paper", "sharp"):
            ready, report = _visits(browser, code, is_paper=preset == "paper")
            lines.append(f"| {preset} | list ready | {ready[0]:.1f} ms | {ready[1]:.1f} ms |")
            lines.append(f"| {preset} | report sent | {report[0]:.1f} ms | {report[1]:.1f} ms |")
            what = f"A head list of 3,000 cells ready in Chromium, `{preset}`: fetched, checked"
            goals.append(Goal(what=what, measured=ready[0], unit="ms of CPU", at_most=20))
        browser.close()
    keep_rows("a browser", "python -m benchmarks.browser.list_ready", goals)
    return "\n".join(lines)


def _build(folder: Path) -> str:
    """Return the client and what drives it, as one script."""
    settings = folder / "vite.config.mjs"
    entry = Path(__file__).with_name("list_ready.ts")
    settings.write_text(
        "export default { build: { target: 'es2022', emptyOutDir: false, lib: { "
        f"entry: {str(entry)!r}, formats: ['es'], fileName: () => 'visit.js' }} }} }}",
        encoding="utf-8",
    )
    search = f"{WEB.parent / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["npx", "vite", "build", "--logLevel=error", f"--outDir={folder}", f"--config={settings}"],
        cwd=WEB,
        env={**os.environ, "PATH": search},
        check=True,
        capture_output=True,
    )
    return (folder / "visit.js").read_text(encoding="utf-8")


def _visits(browser: Browser, code: str, *, is_paper: bool) -> list[tuple[float, float]]:
    """Return the median milliseconds of CPU, and of time, of both steps."""
    page = browser.new_page()
    _open(page, code)
    text = page.evaluate("([count, isPaper]) => listText(count, isPaper)", [QUERIES, is_paper])
    page.close()
    visits = [_visit(browser, code, text) for _ in range(VISITS)]
    return [
        (statistics.median(cpu for cpu, _ in step), statistics.median(time for _, time in step))
        for step in zip(*visits, strict=True)
    ]


def _open(page: Page, code: str) -> None:
    page.route(ADDRESS, lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto(ADDRESS)
    page.add_script_tag(content=code, type="module")
    page.wait_for_function("() => 'visit' in globalThis")


def _visit(browser: Browser, code: str, text: str) -> list[tuple[float, float]]:
    """Return the milliseconds of CPU, and of time, of both steps in a page of its own."""
    with browser.new_context() as context:
        page = context.new_page()
        _open(page, code)
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate("text => { globalThis.steps = visit(text); }", text)
        _processor_time(session)  # the question itself costs less the second time
        measured = []
        for step in range(2):
            before = _processor_time(session)
            passed = page.evaluate("step => steps[step]()", step)
            measured.append((1000 * (_processor_time(session) - before), float(passed)))
        return measured


def _processor_time(session: CDPSession) -> float:
    """Return the seconds of CPU of a page's thread."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


if __name__ == "__main__":
    print(table())
