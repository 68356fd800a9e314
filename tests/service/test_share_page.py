"""The share page says who collects and what is sent, at every state, whatever the texts hold."""

from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from uuid import uuid4

import pytest
from service.running import Service

from blender_dp.service.campaign import Campaign, Reports, Rules, State
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.service.share_page.page import SharePage
from blender_dp.service.share_page.words import (
    delta_sentence,
    opt_in_time,
    report_time,
    surest_after,
)
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.tokens.blind_signer import draw_signing_key, read_signing_key
from blender_dp.wire.tokens.issuer import Issuer
from blender_dp.wire.tokens.token_key import TokenKey
from campaign_stores import a_campaign

LINK = "https://collect.example/join/1"
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
    assert "There is no such collection here" in answer.text


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


def test_an_older_campaign_says_that_it_does_not_say_who_collects() -> None:
    older = replace(a_campaign(), controller=None, contact=None, privacy_policy=None)
    assert page_of(older).count("not said in this older campaign") >= 3


def test_times_are_said_for_each_choice() -> None:
    rules = Rules(opt_in_until=EVENING, clients_from=EVENING)
    opt_in = replace(a_campaign(rules=rules), state=State.OPT_IN_OPEN)
    assert opt_in_time(opt_in) == "Open now, until 1 December 2026, 18:30 UTC at the latest."
    assert report_time(opt_in) == "Opens on 1 December 2026, 18:30 UTC or later."
    clients = replace(opt_in, state=State.CLIENTS_OPEN)
    assert opt_in_time(clients) == "Closed. Nothing can be sent any more."
    assert report_time(clients) == "Open now, until the collector closes it."


@pytest.mark.parametrize(
    ("before", "epsilon", "after"),
    [(0.5, 4.0, "98.3 %"), (0.001, 4.0, "5.2 %"), (0.5, 64.0, "almost 100 %"), (0.5, 1, "73.2 %")],
)
def test_how_sure_somebody_can_become_is_rounded_up(
    before: float, epsilon: float, after: str
) -> None:
    assert surest_after(before, epsilon) == after


@pytest.mark.parametrize(("delta", "chance"), [(1e-5, "1 in 100,000."), (0.27, "1 in 3.")])
def test_delta_is_said_as_a_chance(delta: float, chance: str) -> None:
    assert delta_sentence(delta).endswith(chance)


def test_a_relay_is_a_choice_of_its_own_with_both_numbers() -> None:
    relay = CampaignRelay(
        address="https://relay.example/town/", public_key=to_text(bytes(32)), least_batch=20_000
    )
    campaign = replace(a_campaign(), relay=relay, rules=Rules(relay_wait_hours=48))
    page = " ".join(page_of(campaign).split())
    assert "Send one report through a relay" in page
    assert "<bdi>relay.example</bdi>" in page
    assert "20,000 reports or more" in page
    together = "as long as they do not, ε&nbsp;=&nbsp;at most 8 if they do."
    assert f"ε&nbsp;=&nbsp;4 and δ&nbsp;=&nbsp;10⁻⁵ {together}" in page
    shared = SharePage(campaign=campaign, link=LINK, relay_epsilon=5.25)
    exact = " ".join(shared.html().split())
    assert "ε&nbsp;=&nbsp;5.25 if they do." in exact
    assert "through a relay that hides who sent it" in shared.invitation()
    without = SharePage(campaign=a_campaign(), link=LINK)
    assert "relay" not in without.html() + without.invitation()


def test_a_token_is_explained_with_who_gives_it_where_reports_need_one() -> None:
    plain = a_campaign()
    assert "token" not in page_of(plain)
    own = replace(plain, reports=Reports.TOKEN, open_enrolment=True)
    page = page_of(own)
    assert "A token shows that you are one person." in page
    assert "collect.example gives it to you without seeing it" in page
    assert "need a code" not in page
    assert "For a token you need a code" in page_of(replace(own, open_enrolment=False))
    key = TokenKey(read_signing_key(draw_signing_key()).public_key()).text
    issuer = Issuer(address="https://issuer.example/", public_key=key)
    other = page_of(replace(own, issuer=issuer))
    assert "issuer.example gives it to you" in other
    assert "For a token you need a code" in other
