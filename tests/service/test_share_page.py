"""The share page says who collects and what is sent, at every state, whatever the texts hold."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from service.running import Service

from blender_dp.core.certificate.plain_words import guess_example, guess_limit, one_in
from blender_dp.core.parameters import Parameters
from blender_dp.service.campaign import Campaign, Reports, Rules, State
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.service.share_page.page import EXTENSION, SharePage
from blender_dp.service.share_page.words import limit_fails, opt_in_time, report_time
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.tokens.blind_signer import draw_signing_key, read_signing_key
from blender_dp.wire.tokens.issuer import Issuer
from blender_dp.wire.tokens.token_key import TokenKey
from campaign_stores import a_campaign

LINK = "https://collect.example/join/1"
VECTORS = json.loads(
    (Path(__file__).parents[2] / "test_vectors" / "promise_words.json").read_text(encoding="utf-8")
)
RELAY = CampaignRelay(
    address="https://relay.example/town/", public_key=to_text(bytes(32)), least_batch=20_000
)
EVENING = datetime(2026, 12, 1, 18, 30, tzinfo=UTC)


class _Elements(HTMLParser):
    """Elements and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses |= {value or "" for name, value in attrs if name in ("href", "src")}


def page_of(campaign: Campaign) -> str:
    return SharePage(
        campaign=campaign, link=LINK, has_release=campaign.state is State.RELEASED
    ).html()


@pytest.mark.anyio
async def test_everybody_reads_who_collects_and_the_link(service: Service) -> None:
    campaign = await service.created(name="Searches of autumn")
    path = f"/join/{campaign}"
    page = await service.http.get(path, headers={"host": "collect.example"})
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-store"
    for said in (
        *("Searches of autumn", "find what is popular", "A town library"),
        *("privacy@library.example", "https://library.example/privacy"),
        *(f"https://collect.example{path}", "What each choice sends"),
    ):
        assert said in page.text
    text = (await service.http.get(f"{path}/invitation.txt", headers={"host": "a.example"})).text
    assert f"https://a.example{path}" in text
    picture = await service.http.get(f"{path}/qr.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert b"<svg" in picture.content
    style = await service.http.get("/join/style.css")
    assert style.headers["content-type"].startswith("text/css")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("collect.example:8443", "https://collect.example:8443"),
    ],
)
async def test_a_link_is_one_that_devices_take(service: Service, host: str, origin: str) -> None:
    path = f"/join/{await service.created()}"
    answer = await service.http.get(f"{path}/invitation.txt", headers={"host": host})
    assert f"\n{origin}{path}\n" in answer.text


@pytest.mark.anyio
async def test_a_host_that_is_none_is_refused(service: Service) -> None:
    path = f"/join/{await service.created()}"
    answer = await service.http.get(path, headers={"host": 'a.example"><script>'})
    assert answer.status_code == 400
    assert "script" not in answer.text


@pytest.mark.anyio
async def test_a_wrong_link_is_answered_with_a_page(service: Service) -> None:
    answer = await service.http.get(f"/join/{uuid4()}")
    assert answer.status_code == 404
    assert "There is no such campaign here" in answer.text


def test_texts_are_shown_and_never_run() -> None:
    hostile = '"><script>alert(1)</script><img src=x onerror=alert(1)> $link ${id}'
    campaign = replace(a_campaign(hostile), purpose=hostile, controller=hostile, contact=hostile)
    elements = _Elements(page_of(campaign))
    assert "script" not in elements.names
    assert elements.addresses == {
        *("/join/style.css", "https://library.example/privacy", LINK),
        f"/join/{campaign.id}/qr.svg",
    }


def test_no_sign_turns_the_direction_of_a_text() -> None:
    page = page_of(replace(a_campaign("exe\u202egnp"), purpose="one\ntwo\u2066"))
    assert "\u202e" not in page
    assert "\u2066" not in page
    assert "one\ntwo" in page


def test_a_text_that_was_stored_before_the_rules_is_made_harmless() -> None:
    policy = "https://good.example\u202e@evil.example/"
    older = replace(
        a_campaign("exe\u202egnp"), contact="a\rb", purpose="\x1b[31m\n", privacy_policy=policy
    )
    page = SharePage(campaign=older, link=LINK, has_release=False)
    assert set(page.invitation()) & set("\u202e\r\x1b") == set()
    assert not any("evil" in address for address in _Elements(page.html()).addresses)


def test_a_result_stays_when_its_campaign_is_purged() -> None:
    purged = replace(a_campaign(), state=State.PURGED)
    kept = SharePage(campaign=purged, link=LINK, has_release=True).html()
    assert "It has ended, and the result is published. What people sent is deleted." in kept
    assert "See the result" in kept
    gone = page_of(purged)
    assert "It was given up. What people sent is deleted." in gone
    assert "See the result" not in gone


@pytest.mark.anyio
async def test_a_released_campaign_that_is_purged_is_not_called_given_up(fresh: Service) -> None:
    campaign = await fresh.published()
    await fresh.send(campaign.campaign, campaign.batch(50))
    await fresh.moved(campaign.campaign, "seal-clients", "clients-open")
    await fresh.jobs_done()
    await fresh.moved(campaign.campaign, "purge", "released")
    page = await fresh.http.get(f"/join/{campaign.campaign}", headers={"host": "a.example"})
    assert "the result is published" in page.text
    assert "given up" not in page.text


@pytest.mark.parametrize("state", State)
def test_every_state_has_its_page(state: State) -> None:
    page = page_of(replace(a_campaign(), state=state))
    assert ("See the result" in page) == (state is State.RELEASED)
    is_open = "Open now" in page
    assert is_open == (state in (State.OPT_IN_OPEN, State.CLIENTS_OPEN))


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("has_release", [False, True])
def test_nobody_is_asked_to_take_part_in_what_is_over(state: State, *, has_release: bool) -> None:
    campaign = replace(a_campaign(), state=state, open_enrolment=False)
    page = SharePage(campaign=campaign, link=LINK, has_release=has_release).html()
    is_over = state in (State.CLIENTS_SEALED, State.RELEASED, State.PURGED)
    assert ("Take part" in page, "Invite somebody" in page) == (not is_over, not is_over)
    has_suggestions = is_over and (has_release or state is not State.PURGED)
    assert ("Get the suggestions" in page) == has_suggestions
    assert ("They are ready now." in page) == (is_over and has_release)
    assert ("you also need a code" in page) == (state in (State.DRAFT, State.OPT_IN_OPEN))


def test_the_extension_is_named_as_people_find_it() -> None:
    manifest = Path(__file__).parents[2] / "web" / "extension" / "manifest.ts"
    assert f"name: '{EXTENSION}'," in manifest.read_text(encoding="utf-8")
    assert EXTENSION in page_of(replace(a_campaign(), state=State.OPT_IN_OPEN))


def test_an_older_campaign_says_that_it_does_not_say_who_collects() -> None:
    older = replace(a_campaign(), controller=None, contact=None, privacy_policy=None)
    assert page_of(older).count("not said in this older campaign") >= 3


def test_times_are_said_for_each_choice() -> None:
    rules = Rules(opt_in_until=EVENING, clients_from=EVENING)
    opt_in = replace(a_campaign(rules=rules), state=State.OPT_IN_OPEN)
    assert opt_in_time(opt_in) == "Open now, until 1 December 2026, 18:30 UTC at the latest."
    assert report_time(opt_in) == "Opens on 1 December 2026, 18:30 UTC or later."
    clients = replace(opt_in, state=State.CLIENTS_OPEN)
    assert opt_in_time(clients) == "Closed."
    assert report_time(clients) == "Open now, until the organisation closes it."


@pytest.mark.parametrize("guess", VECTORS["guesses"], ids=itemgetter("epsilon"))
def test_what_epsilon_limits_is_said_as_on_all_other_pages(guess: dict[str, str]) -> None:
    epsilon = float(guess["epsilon"])
    assert f"at most {guess['factor']} times more likely" in guess_limit(epsilon)
    assert f"they can think it is {guess['few']} at most" in guess_example(epsilon)
    assert f"half sure can be {guess['half']} sure at most" in guess_example(epsilon)


@pytest.mark.parametrize("chance", VECTORS["chances"], ids=itemgetter("probability"))
def test_a_small_probability_is_said_as_a_chance(chance: dict[str, str]) -> None:
    assert one_in(float(chance["probability"])) == chance["said"]


@pytest.mark.parametrize("case", VECTORS["fails"], ids=itemgetter("said"))
def test_for_whom_the_limit_may_fail_is_said_as_on_all_other_pages(case: dict[str, Any]) -> None:
    parameters = Parameters(epsilon=4.0, delta=float(case["delta"]), preset=case["preset"])
    campaign = replace(a_campaign(), parameters=parameters)
    if case["relay"]:
        campaign = replace(campaign, relay=RELAY, rules=Rules(relay_wait_hours=48))
    assert limit_fails(campaign) == case["said"]
    assert case["said"] in page_of(campaign)


def test_no_epsilon_promises_more_than_it_keeps() -> None:
    assert guess_limit(64.0) == "a guess about you may become almost certain"
    assert "almost 100\u00a0% sure at most" in guess_example(64.0)


@pytest.mark.parametrize("reports", Reports)
@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("relay", [None, RELAY])
def test_every_sentence_is_short_and_every_thing_has_one_name(
    reports: Reports, is_open: bool, relay: CampaignRelay | None
) -> None:
    rules = Rules(relay_wait_hours=48) if relay else Rules()
    campaign = replace(a_campaign(), relay=relay, rules=rules)
    shared = SharePage(
        campaign=replace(campaign, reports=reports, open_enrolment=is_open), link=LINK
    )
    body = shared.html().partition("<body>")[2]
    inline = re.sub(r"</?(?:b|bdi|a)\b[^>]*>", "", body)
    text = unescape(re.sub(r"<[^>]*>", "\n\n", inline))
    for sentence in re.split(r"(?<=[.!?])\s+|\n\n", f"{text}\n\n{shared.invitation()}"):
        assert len(sentence.split()) <= 25, sentence
    assert not re.search(r"\b(?:collector|service|mixes with chance|at random)\b", text)
    assert " ".join(text.split()).count("A report that was sent cannot be taken back") == (
        2 if relay else 1
    )


def test_a_relay_is_a_choice_of_its_own_with_both_numbers() -> None:
    campaign = replace(a_campaign(), relay=RELAY, rules=Rules(relay_wait_hours=48))
    page = " ".join(page_of(campaign).split())
    assert "Send one report through a relay" in page
    assert "<bdi>relay.example</bdi>" in page
    assert "20,000 reports or more" in page
    assert "ε&nbsp;=&nbsp;4 as long as they do not work together, and at most 8 if they do." in page
    shared = SharePage(campaign=campaign, link=LINK, relay_epsilon=5.25)
    exact = " ".join(shared.html().split())
    assert "not work together, and 5.25 if they do." in exact
    assert "one report through a relay, or nothing" in shared.invitation()
    without = SharePage(campaign=a_campaign(), link=LINK)
    assert "relay" not in without.html() + without.invitation()


def test_a_token_is_explained_with_who_gives_it_where_reports_need_one() -> None:
    plain = a_campaign()
    assert "token" not in page_of(plain)
    own = replace(plain, reports=Reports.TOKEN, open_enrolment=True)
    page = page_of(own)
    assert "it shows that you are one person." in page
    assert "collect.example signs it without seeing it" in page
    assert "need a code" not in page
    assert "For a token you need a code" in page_of(replace(own, open_enrolment=False))
    key = TokenKey(read_signing_key(draw_signing_key()).public_key()).text
    issuer = Issuer(address="https://issuer.example/", public_key=key)
    other = page_of(replace(own, issuer=issuer))
    assert "issuer.example signs it without seeing it" in other
    assert "For a token you need a code" in other
