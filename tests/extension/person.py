"""A person with a browser that has the extension in it; all that the browser sends is recorded."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from extension.recording_proxy import Recorder, recording_proxy
from extension.search_engine import ENGINE
from playwright.sync_api import BrowserContext, Page, Worker, expect, sync_playwright

WEB = Path(__file__).parents[2] / "web"
_PATIENCE = 20_000
"""Milliseconds; Playwright's own 5,000 are few on a busy machine."""
expect.set_options(timeout=_PATIENCE)
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-component-update",
    "--disable-background-networking",
    "--proxy-bypass-list=<-loopback>",
)


_SLOW_VIEW = """
if (location.pathname === '/welcome.html') {
  const send = chrome.runtime.sendMessage.bind(chrome.runtime);
  const held = new Promise((resolve) => { globalThis.answerView = resolve; });
  chrome.runtime.sendMessage = async (message) => {
    const answer = await send(message);
    if (message.kind === 'view') await held;
    return answer;
  };
}
"""
"""Holds back the answer that tells a page what is so now, until the test says so."""


def built_for(browser: str, folder: Path) -> Path:
    """Build the extension for a browser, as it is published."""
    made = folder / "unpacked"  # of its own, because other processes of the tests build too
    vite = str(WEB / "node_modules" / ".bin" / "vite")
    # Node may be the machine's, or the one that make put beside Python.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for config in ("vite.config.ts", "capture.config.ts"):
        build = [vite, "build", f"--mode={browser}", f"--config={config}", f"--outDir={made}"]
        subprocess.run(
            build, cwd=WEB / "extension", env=environment, check=True, capture_output=True
        )
    return made


def built_extension(folder: Path) -> Path:
    """Build the extension for Chromium, and allow it this machine's own servers.

    A person allows hosts in a dialog of the browser, which nothing can press in Chromium; the test
    in Firefox does. Everything else is as it is built, and the code that asks is run.
    """
    made = built_for("chromium", folder)
    manifest = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
    assert "host_permissions" not in manifest
    manifest["host_permissions"] = ["http://127.0.0.1/*"]
    (made / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who uses the extension."""

    context: BrowserContext
    worker: Worker
    sent: Recorder
    complaints: list[str]

    def open(
        self, name: str, *, width: int = 1024, scheme: str = "light", script: str = ""
    ) -> Page:
        """Open a page of the extension, with a script that runs before its own."""
        page = self.context.new_page()
        page.add_init_script(script)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.worker.url.replace("worker.js", name))
        return page

    def take_up(self, invitation: str) -> Page:
        """Look up a campaign on the first page."""
        page = self.open("welcome.html")
        return self.look_up(page, invitation)

    def take_up_before_the_page_knows(self, invitation: str) -> Page:
        """Look up a campaign on a page that learns only later which one is the present one."""
        page = self.open("welcome.html", script=_SLOW_VIEW)
        self.look_up(page, invitation)
        page.evaluate("answerView()")
        return page

    def look_up(self, page: Page, invitation: str) -> Page:
        """Look up a campaign on a page that is open."""
        page.get_by_label("The link that the organisation gave you").fill(invitation)
        page.get_by_role("button", name="Look it up").click()
        expect(page.locator("#campaign")).to_be_visible()
        return page

    def agree(self, page: Page) -> Page:
        """Opt in, and arrive at the options."""
        page.get_by_role("radio", name="I trust them").check()
        page.get_by_label("I have read this and agree").check()
        return self.choose(page, "I trust them")

    def choose(self, page: Page, choice: str) -> Page:
        """Choose, and arrive at the options."""
        page.get_by_role("radio", name=choice).check()
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("**/options.html*")
        return page

    def watch(self, options: Page) -> None:
        """Add the search engine of the test to the pages where searches are noticed."""
        options.get_by_text("Add a search page").click()
        options.get_by_label("Name").fill("Engine")
        options.get_by_label("Address of result pages").fill(f"http://{ENGINE}/search*")
        options.get_by_label("Result links").fill("article a")
        options.get_by_label("Parameter of links").fill("to")
        options.get_by_role("button", name="Add", exact=True).click()
        expect(options.get_by_label("Notice searches on Engine")).to_be_checked()

    def click_result(self, port: int, query: str, link: str = "plain") -> None:
        """Search for something and click a link of the page."""
        page = self.context.new_page()
        page.goto(f"http://{ENGINE}:{port}/search?q={quote_plus(query)}")
        page.locator(f"#{link}").click()
        page.wait_for_load_state()
        page.close()

    def records(self, options: Page) -> list[tuple[str, str]]:
        """Return what the options show as recorded."""
        options.reload()
        expect(options.locator("#standing")).not_to_be_empty()
        rows = options.locator("#records tr").all()
        return [
            (row.locator("th").inner_text(), row.locator("td").first.inner_text()) for row in rows
        ]

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)


@contextmanager
def person(extension: Path, profile: Path) -> Iterator[Person]:
    """Start a browser; complaints on the extension's pages fail the test."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.fail("the browser tests need Chromium: apt-get install -y chromium", pytrace=False)
    with recording_proxy() as recorder, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            headless=False,  # the kind that has extensions is among the arguments
            args=[*_ARGUMENTS, f"--load-extension={extension}"],
            ignore_default_args=["--disable-extensions"],
            proxy={"server": recorder.address},
        )
        context.set_default_timeout(_PATIENCE)
        try:
            workers = context.service_workers
            worker = workers[0] if workers else context.wait_for_event("serviceworker")
            one = Person(context=context, worker=worker, sent=recorder, complaints=[])
            yield one
        finally:
            context.close()
        assert one.complaints == []
