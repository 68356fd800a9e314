"""The dashboard takes an operator through a whole campaign, people taking part meanwhile."""

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import CLIENTS, PEOPLE, POPULAR, LiveService, opt_in, send_reports
from playwright.sync_api import Page, expect

from blender_dp.service.http.access import Role
from blender_dp.wire.published.release import read_release

pytestmark = pytest.mark.browser
SOON = 30_000
ESTIMATES = "[aria-label=dot] > *"
INTERVALS = "[aria-label=rule] line"


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("API token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()


def create(page: Page, name: str) -> str:
    page.get_by_role("link", name="New campaign").click()
    fill_form(page, name)
    page.get_by_label("δ").fill("1e-4")
    page.get_by_label("Clients expected").fill(str(CLIENTS))
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_role("row", name="Queries on the list")).to_contain_text("±", timeout=SOON)
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    return page.url.rpartition("/")[2]


def fill_form(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Purpose").fill("Suggest popular searches offline.")
    page.get_by_label("Who collects").fill("A town library")
    page.get_by_label("Contact").fill("privacy@library.example")
    page.get_by_label("Privacy policy").fill("https://library.example/privacy")
    page.get_by_label("Consent text", exact=True).fill("I give my searches, once.")


def make_move(page: Page, title: str, state: str) -> None:
    page.get_by_role("button", name=title).click()
    page.get_by_role("dialog").get_by_role("button", name=title).click()
    expect(page.locator("[aria-current=step]")).to_have_text(state, timeout=SOON)


def test_a_campaign_goes_from_draft_to_release(
    open_page: OpenPage, service: LiveService, tmp_path: Path
) -> None:
    page = open_page(role=None)
    sign_in(page, service.tokens[Role.OPERATOR])
    campaign = create(page, "Popular searches")
    counts = page.get_by_label("Counts of this campaign")

    make_move(page, "Open for opt-in users", "Opt-in open")
    opt_in(service, campaign)
    expect(counts).to_contain_text(f"Contributed{PEOPLE}", timeout=SOON)

    page.get_by_role("button", name="Seal the opt-in side").click()
    page.get_by_role("dialog").get_by_role("button", name="Seal the opt-in side").click()
    # The job has made the list when the page says so by itself.
    expect(page.locator("[aria-current=step]")).to_have_text("List published", timeout=SOON)
    page.get_by_role("link", name="Head list").click()
    expect(page.get_by_role("table", name="Records of the head list")).to_contain_text("query 0")

    page.get_by_role("link", name="Overview").click()
    make_move(page, "Open for clients", "Clients open")
    send_reports(service, campaign)
    expect(page.get_by_text(f"{CLIENTS:,} of {CLIENTS:,}")).to_be_visible(timeout=SOON)

    page.get_by_role("button", name="Seal and release").click()
    page.get_by_role("dialog").get_by_role("button", name="Seal and release").click()
    expect(page.locator("[aria-current=step]")).to_have_text("Released", timeout=SOON)
    look_at_release(page)
    save_release(page, tmp_path)


def look_at_release(page: Page) -> None:
    page.get_by_role("link", name="Release", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("What is popular"))).to_be_visible()
    expect(page.get_by_role("heading", name="Every promise is kept.")).to_be_visible()
    table = page.get_by_role("table", name="All queries of the release")
    expect(table.get_by_role("row", name="query 0")).to_contain_text(" to ")
    chart = page.get_by_role("img", name=re.compile("most popular queries"))
    # Every estimate that is drawn has its interval.
    estimates, intervals = chart.locator(ESTIMATES), chart.locator(INTERVALS)
    expect(estimates.first).to_be_visible()
    blended = estimates.count()
    assert intervals.count() == blended > 0
    page.get_by_text("Groups apart", exact=True).click()
    expect(estimates).to_have_count(2 * blended)
    expect(intervals).to_have_count(2 * blended)


def save_release(page: Page, tmp_path: Path) -> None:
    page.get_by_role("link", name="Downloads").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="release.json").click()
    with page.expect_download() as report:
        page.get_by_role("link", name="report.html").click()
    report.value.save_as(tmp_path / "report.html")
    opened = page.context.new_page()
    opened.goto((tmp_path / "report.html").as_uri())
    expect(opened.get_by_text("query 0").first).to_be_visible()
    promised = opened.locator("#promise-list article")
    expect(promised).to_have_count(2)
    expect(promised.last).to_contain_text(f"{CLIENTS:,} clients")
    expect(opened.get_by_role("heading", name="Certificate")).to_be_visible()
    expect(opened.locator("#foot")).to_contain_text(f"blender-dp {version('blender-dp')}")
    # Nothing lies beside a page that was saved from a service.
    expect(opened.locator("#files")).to_contain_text("has these files under “Downloads”")
    expect(opened.locator("#files a")).to_have_count(0)
    expect(opened.locator("#files li")).to_have_count(3)
    opened.close()
    for name in ("records.csv", "records.parquet", "queries.csv", "queries.parquet"):
        with page.expect_download() as table:
            page.get_by_role("link", name=name).click()
        assert table.value.suggested_filename == name
        assert table.value.path().stat().st_size > 0
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    assert path.name == "release.json"
    release = read_release(path)
    assert release.private
    assert release.client_users == CLIENTS


def test_moves_ask_first_and_can_be_cancelled(open_page: OpenPage) -> None:
    page = open_page("#/campaigns")
    create(page, "Cancelled")
    page.get_by_role("button", name="Open for opt-in users").click()
    expect(page.get_by_role("dialog")).to_contain_text("frozen for good")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[aria-current=step]")).to_have_text("Draft")


def test_purging_asks_for_the_name(open_page: OpenPage) -> None:
    page = open_page("#/campaigns")
    create(page, "Given up")
    page.get_by_role("button", name="Purge").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Purge")).to_be_disabled()
    dialog.get_by_role("textbox").fill("Given up")
    dialog.get_by_role("button", name="Purge").click()
    expect(page.locator("[aria-current=step]")).to_have_text("Purged", timeout=SOON)


def test_enrolment_tokens_are_saved_once(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("#/campaigns")
    create(page, "By token")
    make_move(page, "Open for opt-in users", "Opt-in open")
    page.get_by_label("How many").fill("10001")
    expect(page.get_by_text("From 1 to 10,000 at a time.")).to_be_visible()
    page.get_by_label("How many").fill("3")
    expect(page.get_by_text("From 1 to 10,000 at a time.")).to_have_count(0)
    with page.expect_download() as started:
        page.get_by_role("button", name="Make and save them").click()
    path = tmp_path / "tokens.txt"
    started.value.save_as(path)
    assert len({*path.read_text(encoding="utf-8").split()}) == 3


def test_local_search_suggests_what_was_released(
    open_page: OpenPage, released: tuple[str, str]
) -> None:
    page = open_page(f"#/search?in={released[1]}")
    page.get_by_role("searchbox", name="Search").fill("quer")
    expect(page.get_by_role("link", name="www.site-0.example")).to_be_visible()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.get_by_role("searchbox", name="Search").fill(POPULAR[1][0])
    expect(page.get_by_role("link", name="www.site-1.example")).to_be_visible()
    assert sent == []


def test_trends_say_what_changed(open_page: OpenPage, released: tuple[str, str]) -> None:
    page = open_page(f"#/trends?now={released[1]}&before={released[0]}")
    table = page.get_by_role("table", name="All changes")
    expect(table.get_by_role("row", name="query 0")).to_contain_text(" to ")
    expect(page.get_by_role("img", name=re.compile("surest changes"))).to_be_visible()


def test_a_refused_token_is_said_in_words(open_page: OpenPage) -> None:
    page = open_page(role=None)
    page.get_by_label("API token").fill("A" * 43)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("The token must be a valid one.")
    page.get_by_label("API token").fill("B" * 43)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert json.loads(page.evaluate("JSON.stringify({...sessionStorage})")) == {}


def test_an_analyst_sees_counts_and_no_moves(
    open_page: OpenPage, released: tuple[str, str]
) -> None:
    page = open_page(f"#/campaigns/{released[0]}", role=Role.ANALYST)
    expect(page.get_by_label("Counts of this campaign")).to_contain_text(f"Contributed{PEOPLE}")
    expect(page.get_by_role("button", name="Purge")).to_have_count(0)
    page.goto(page.url.partition("#")[0] + "#/campaigns")
    expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()
    expect(page.get_by_role("link", name="New campaign")).to_have_count(0)


def test_everybody_may_read_the_privacy_statement(
    open_page: OpenPage, released: tuple[str, str]
) -> None:
    page = open_page(f"#/campaigns/{released[0]}/privacy", role=None)
    expect(page.get_by_text("what you sent was deleted when the list was made")).to_be_visible()
    expect(page.get_by_role("heading", name="What ε = 4 means")).to_be_visible()
    expect(page.get_by_text("A town library", exact=True)).to_be_visible()
    expect(page.get_by_text("privacy@library.example")).to_be_visible()
    policy = page.get_by_role("link", name="https://library.example/privacy")
    expect(policy).to_have_attribute("href", "https://library.example/privacy")
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_label("States of the campaign")).to_be_visible()
    expect(page.get_by_label("Counts of this campaign")).to_have_count(0)


def test_counts_that_cannot_be_fetched_are_said_to_be_old(
    open_page: OpenPage, released: tuple[str, str]
) -> None:
    page = open_page(f"#/campaigns/{released[0]}")
    counts = page.get_by_label("Counts of this campaign")
    expect(counts).to_contain_text(f"Contributed{PEOPLE}")
    refuse = {"status": 503, "content_type": "application/problem+json"}
    body = json.dumps({"type": "urn:blender-dp:problem:overloaded", "title": "Too much to do."})
    page.route("**/progress", lambda route: route.fulfill(body=body, **refuse))
    expect(page.get_by_text("Not up to date: Too much to do.")).to_be_visible(timeout=SOON)
    expect(counts).to_contain_text(f"Contributed{PEOPLE}")
    page.unroute("**/progress")
    expect(page.get_by_text("Not up to date")).to_have_count(0, timeout=SOON)
