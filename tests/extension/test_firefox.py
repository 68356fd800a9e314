"""The extension in Firefox: install, consent in its own dialogs, capture, report, popup."""

from pathlib import Path

import pytest
from extension.collection import Collection, contribute, report, wait_for
from extension.firefox import Firefox, running_firefox
from extension.person import built_for
from extension.search_engine import ENGINE
from extension.test_whole_campaign import CLIENTS, LISTED_SEARCH, OPTED_IN

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_person_reports_privately_and_gets_suggestions(
    collection: Collection, engine_port: int, tmp_path: Path
) -> None:
    contribute(collection, OPTED_IN)
    collection.move("seal-opt-in", "opt-in-open", then="list-published")
    collection.move("open-clients", "list-published", then="clients-open")
    built = built_for("firefox", tmp_path)
    with running_firefox(tmp_path / "profile") as firefox:
        firefox.install(built)
        consent(firefox, collection)
        capture(firefox, engine_port)
        firefox.click("#check")
        firefox.wait_for_text("#standing", "your one report was sent")
        assert sum(collection.get("/progress")["reports"].values()) == 1
        firefox.take_back("searchTerms", "browsingActivity")
        nothing = "Nothing is recorded and nothing is sent."
        wait_for(lambda: standing(firefox) == nothing, "the end of taking part")
        report(collection, CLIENTS)
        collection.move("seal-clients", "clients-open", then="released")
        firefox.click("#check")
        firefox.wait_for_text("#release", "work offline")
        firefox.open("popup.html")
        firefox.type("#typed", "wea")
        firefox.wait_for_text("#suggestions li .query", LISTED_SEARCH)
        to_service = firefox.sent.to(collection.port)
        assert [one.line for one in to_service if one.line.startswith("POST") and one.body]
        assert not [one for one in to_service if b"weather" in one.content.lower()]


def standing(firefox: Firefox) -> str:
    """Return what the options say now."""
    firefox.open("options.html")
    wait_for(lambda: firefox.text("#standing") != "", "the options")
    return firefox.text("#standing")


def consent(firefox: Firefox, collection: Collection) -> None:
    """Look a campaign up, choose, and allow in Firefox what it asks about."""
    firefox.type("#invitation", collection.share_page)
    firefox.click("#find button")
    assert "127.0.0.1" in firefox.press_allow()
    firefox.wait_for_text("#name", "Popular searches of a town")
    firefox.click("#private")
    firefox.click("#choices button")
    asked = firefox.press_allow()
    assert "search" in asked.lower(), asked
    wait_for(lambda: "/options.html" in firefox.address, "the options")


def capture(firefox: Firefox, engine_port: int) -> None:
    """Have searches noticed on one page, and search there."""
    firefox.click("#search-pages summary")
    for name, value in {
        "name": "Engine",
        "address": f"http://{ENGINE}/search*",
        "results": "article a",
        "target": "to",
    }.items():
        firefox.type(f"#page-{name}", value)
    firefox.click("#new-page button")
    firefox.wait_for_text("#pages", "Engine")
    firefox.go(f"http://{ENGINE}:{engine_port}/search?q={LISTED_SEARCH.replace(' ', '+')}")
    firefox.click("#plain")
    wait_for(lambda: "results.example" in firefox.address, "the result")
    firefox.open("options.html")
    firefox.wait_for_text("#records th", LISTED_SEARCH)
