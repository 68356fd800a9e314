"""Firefox with the extension in it, driven by Marionette, its own protocol for tests."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from extension.collection import wait_for
from extension.recording_proxy import Recorder, recording_proxy

_PREFERENCES: dict[str, object] = {
    "marionette.port": 0,
    "app.update.auto": False,
    "browser.newtabpage.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.allow_hijacking_localhost": True,
    "network.proxy.type": 1,
    "network.proxy.no_proxies_on": "",
    # Else the browser's own questions take no click at first, so that nobody agrees by accident.
    "security.notification_enable_delay": 0,
}
_PANEL = "PopupNotifications.panel"


@dataclass(slots=True)
class Firefox:
    """A running browser, as somebody in front of it sees it."""

    sent: Recorder
    _socket: socket.socket
    _answers: BinaryIO
    _calls: int = 0
    addresses: str = field(default="", init=False)
    """What the addresses of the extension's own pages begin with."""

    def install(self, folder: Path) -> None:
        """Install the extension until the browser ends, and go to the page that it opens."""
        before = self._call("WebDriver:GetWindowHandles")
        name = self._call("Addon:Install", path=str(folder), temporary=True)
        host = self._in_browser(f"return WebExtensionPolicy.getByID({name!r}).mozExtensionHostname")
        self.addresses = f"moz-extension://{host}/"
        wait_for(lambda: len(self._call("WebDriver:GetWindowHandles")) > len(before), "a page")
        [opened] = set(self._call("WebDriver:GetWindowHandles")) - set(before)
        self._call("WebDriver:SwitchToWindow", handle=opened, focus=True)
        wait_for(lambda: self.address == f"{self.addresses}welcome.html", "the first page")

    @property
    def address(self) -> str:
        """The address of the page that is shown."""
        return str(self._call("WebDriver:GetCurrentURL"))

    def go(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        self._call("WebDriver:Navigate", url=address)

    def open(self, page: str) -> None:
        """Open a page of the extension."""
        self.go(self.addresses + page)

    def click(self, selector: str) -> None:
        """Click an element as a person does."""
        self._call("WebDriver:ElementClick", id=self._found(selector))

    def type(self, selector: str, text: str) -> None:
        """Type into a field that was emptied first."""
        field_id = self._found(selector)
        self._call("WebDriver:ElementClear", id=field_id)
        self._call("WebDriver:ElementSendKeys", id=field_id, text=text)

    def text(self, selector: str) -> str:
        """Return the text of an element, or nothing if it is not there."""
        script = "return document.querySelector(arguments[0])?.textContent ?? ''"
        return str(self._run(script, selector))

    def wait_for_text(self, selector: str, text: str) -> None:
        """Wait until an element has a text in it."""
        wait_for(lambda: text in self.text(selector), f"{text!r} in {selector}")

    def press_allow(self) -> str:
        """Press Allow in the browser's own question, and return what it asks."""
        wait_for(lambda: self._in_browser(f"return {_PANEL}.state") == "open", "the question")
        asked = self._in_browser(f"return {_PANEL}.textContent")
        self._in_browser(f"{_PANEL}.firstElementChild.button.click()")
        wait_for(lambda: self._in_browser(f"return {_PANEL}.state") == "closed", "its end")
        return str(asked)

    def take_back(self, *kinds: str) -> None:
        """Take back what the extension may send, as the browser's own settings do."""
        assert self._run("return chrome.permissions.remove({data_collection: arguments[0]})", kinds)

    def _found(self, selector: str) -> str:
        found = self._call("WebDriver:FindElement", using="css selector", value=selector)
        return str(next(iter(found.values())))

    def _in_browser(self, script: str) -> Any:
        """Run a script in the browser itself, not in a page."""
        self._call("Marionette:SetContext", value="chrome")
        try:
            return self._run(script)
        finally:
            self._call("Marionette:SetContext", value="content")

    def _run(self, script: str, *values: object) -> Any:
        return self._call("WebDriver:ExecuteScript", script=script, args=list(values))

    def _call(self, name: str, **parameters: object) -> Any:
        self._calls += 1
        message = json.dumps([0, self._calls, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = _message(self._answers)
        assert error is None, (name, error["error"], error["message"])
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def start(self) -> None:
        """Greet the browser; every element is waited for."""
        _message(self._answers)
        capabilities = {"timeouts": {"implicit": 20_000}}
        self._call("WebDriver:NewSession", capabilities={"alwaysMatch": capabilities})


def _message(answers: BinaryIO) -> Any:
    length = b""
    while (letter := answers.read(1)) != b":":
        assert letter, "Firefox ended"
        length += letter
    return json.loads(answers.read(int(length)))


@contextmanager
def running_firefox(profile: Path) -> Iterator[Firefox]:
    """Start Firefox on an empty profile; all that it sends goes through a proxy that records it."""
    executable = shutil.which("firefox-esr") or shutil.which("firefox")
    if executable is None:
        pytest.fail("this test needs Firefox: apt-get install -y firefox-esr", pytrace=False)
    profile.mkdir()
    with recording_proxy() as recorder:
        host, port = recorder.address.removeprefix("http://").split(":")
        proxy = {
            f"network.proxy.{kind}{what}": value
            for kind in ("http", "ssl")
            for what, value in (("", host), ("_port", int(port)))
        }
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in {**_PREFERENCES, **proxy}.items()
        ]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        arguments = ["--headless", "--no-remote", "--profile", str(profile), "--marionette"]
        process = subprocess.Popen(
            [executable, *arguments, "--remote-allow-system-access", "about:blank"],
            env={**os.environ, "HOME": str(profile), "MOZ_CRASHREPORTER_DISABLE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with _connection(profile, process) as connection, connection.makefile("rb") as answers:
                firefox = Firefox(recorder, connection, answers)
                firefox.start()
                yield firefox
        finally:
            process.terminate()
            process.wait(timeout=30)


def _connection(profile: Path, process: subprocess.Popen[bytes]) -> socket.socket:
    written = profile / "MarionetteActivePort"
    deadline = time.monotonic() + 60
    while not (written.exists() and written.read_text().strip()):
        assert process.poll() is None, "Firefox ended"
        assert time.monotonic() < deadline, "Firefox did not start"
        time.sleep(0.05)
    return socket.create_connection(("127.0.0.1", int(written.read_text())), timeout=60)
