"""From a service on an empty folder to its first release in few clicks; the pages say how."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard.test_whole_campaign import SOON, fill_form, sign_in
from playwright.sync_api import Browser, Page, expect
from running_service import RunningService, running_service

pytestmark = pytest.mark.browser
MOST_CLICKS = 10
COUNT_CLICKS = "window.clicks = 0; addEventListener('click', () => { window.clicks += 1; }, true)"
FEWER = "--count 2500 --opt-in 0.8 --operator-token-file {}"
"""The command of the page simulates 40,000 devices and asks for the token in the terminal.

With these numbers the most popular record is 7 standard deviations above the list's threshold: the
list is empty, which ends the campaign, with a probability below 1e-11."""


@pytest.fixture
def empty_service(tmp_path: Path) -> Iterator[RunningService]:
    with running_service(tmp_path) as service:
        yield service


def simulate(page: Page, service: RunningService) -> None:
    """Run the command that the page shows, with fewer devices."""
    shown = page.get_by_role("region", name="Try it with simulated devices").locator("pre")
    command = shlex.split(f"{shown.inner_text()} {FEWER.format(service.token_file)}")
    assert command[:2] == ["blender-dp", "devices"]
    program = [sys.executable, "-m", "blender_dp.cli"]
    done = subprocess.run([*program, *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ten_clicks_lead_to_the_first_release(
    chromium: Browser, empty_service: RunningService
) -> None:
    page = chromium.new_page()
    page.add_init_script(COUNT_CLICKS)
    page.goto(empty_service.url)
    sign_in(page, empty_service.token)
    page.get_by_role("link", name="New campaign").click()
    fill_form(page, "The first one")
    page.get_by_role("button", name="Create the draft").click()
    page.get_by_role("button", name="Copy the command").click()
    simulate(page, empty_service)
    page.get_by_role("link", name="See the release").click(timeout=SOON)
    expect(page.get_by_role("heading", name="Every promise is kept.")).to_be_visible()
    assert page.evaluate("clicks") <= MOST_CLICKS
    page.close()
