"""Issuer: one token per person and campaign, the same answer again, nothing left at the end."""

import asyncio
import shutil
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from issuer.running import CAMPAIGN, StandInCollector, issuing, running

from blender_dp.core.errors import InputError
from blender_dp.issuer.campaign_keys import CampaignKeys
from blender_dp.issuer.campaigns import ListFault
from blender_dp.wire.tokens.report_token import TokenSecret

pytestmark = pytest.mark.anyio
OTHER = UUID(int=7)


def slug(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).rpartition(":")[2]


async def test_a_person_gets_one_token(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        rules = issuer.rules()
        assert rules.is_valid(await issuer.token())
        assert rules.is_valid(await issuer.token("code-of-bert"))
        second = await issuer.ask(rules.request(TokenSecret.draw(rules.key)))
        assert (second.status_code, slug(second)) == (409, "token-issued-already")


async def test_the_same_request_gets_the_same_answer_also_after_a_start(tmp_path: Path) -> None:
    collector = StandInCollector()
    async with running(tmp_path, collector) as issuer:
        collector.publish(CAMPAIGN, issuer.next_key)
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        first = await issuer.ask(request)
    async with running(tmp_path, collector) as issuer:
        assert (await issuer.ask(request)).content == first.content
        another = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        assert (await issuer.ask(another)).status_code == 409


async def test_requests_of_one_person_at_the_same_time_give_one_token(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        key = issuer.rules().key
        requests = [issuer.rules().request(TokenSecret.draw(key)) for _ in range(8)]
        answers = await asyncio.gather(*map(issuer.ask, requests))
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7


async def test_two_campaigns_have_two_keys_and_never_one(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        await issuer.token()
        shared = issuer.collector.token_keys[CAMPAIGN]
        issuer.collector.publish(OTHER, shared)
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        assert slug(await issuer.ask(request, "code-of-bert", OTHER)) == "no-report-tokens"
        assert issuer.refusals() == [ListFault.ANOTHER_KEY]
        third = UUID(int=8)
        issuer.collector.publish(third, issuer.next_key)
        assert await issuer.token("code-of-anna", third)  # another campaign, so another token
        assert issuer.collector.token_keys[third] != shared


@pytest.mark.parametrize("state", ["clients-sealed", "released", "purged"])
async def test_nothing_of_people_is_left_when_the_campaign_ends(tmp_path: Path, state: str) -> None:
    async with issuing(tmp_path) as issuer:
        await issuer.token()
        key = issuer.app.dependencies.keys.key_of(CAMPAIGN)
        assert key is not None
        person = key.person("anna@example.org")
        issuer.collector.states[CAMPAIGN] = state
        await issuer.app.campaigns.tick()
        assert await issuer.app.dependencies.store.unfinished() == []
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert person not in content
        assert key.content[:32] not in content
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        assert slug(await issuer.ask(request)) == "campaign-not-collecting"


async def test_no_subject_and_no_credential_is_written_anywhere(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        await issuer.token()
        await issuer.ask(b"", "code-of-nobody")
        issuer.hook.instead = httpx.Response(500, text="anna@example.org")
        await issuer.ask(b"", "code-of-bert")
        shown = (await issuer.http.get("/metrics")).text + issuer.lines.getvalue()
        content = shown.encode() + b"".join(file.read_bytes() for file in tmp_path.iterdir())
        for word in (b"anna@example", b"code-of-"):
            assert word not in content


async def test_a_restored_database_issues_nothing(tmp_path: Path) -> None:
    """It forgot who got a token since; they would get a second one."""
    collector, saved = StandInCollector(), tmp_path / "saved.sqlite"
    data = tmp_path / "data"
    async with running(data, collector) as issuer:
        collector.publish(CAMPAIGN, issuer.next_key)
        await issuer.token("code-of-bert")
    shutil.copy(data / "issuer.sqlite", saved)
    async with running(data, collector) as issuer:
        await issuer.token()
    shutil.copy(saved, data / "issuer.sqlite")
    for log in data.glob("issuer.sqlite-*"):
        log.unlink()
    async with running(data, collector) as issuer:
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        assert slug(await issuer.ask(request)) == "no-report-tokens"
        assert issuer.refusals() == [ListFault.OLD_DATABASE]


async def test_an_answer_that_was_stored_but_not_counted_is_given(tmp_path: Path) -> None:
    """Killed between the database and the count: the database is ahead, which is no fault."""
    collector = StandInCollector()
    async with running(tmp_path, collector) as issuer:
        collector.publish(CAMPAIGN, issuer.next_key)
        await issuer.token("code-of-bert")
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        await issuer.ask(request)
    (tmp_path / f"{CAMPAIGN}.issued").write_bytes((1).to_bytes(8))
    async with running(tmp_path, collector) as issuer:
        assert (await issuer.ask(request)).status_code == 200
        assert issuer.app.dependencies.keys.counted(CAMPAIGN) == 2


async def test_another_collector_is_refused(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        await issuer.token()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PrivateKey,
        )

        issuer.collector.signing = Ed25519PrivateKey.generate()
        issuer.collector.publish(OTHER, issuer.next_key)
        request = issuer.rules(OTHER).request(TokenSecret.draw(issuer.rules(OTHER).key))
        assert slug(await issuer.ask(request, campaign=OTHER)) == "no-report-tokens"
        assert issuer.refusals() == [ListFault.ANOTHER_COLLECTOR]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (httpx.Response(401), 401),
        (httpx.Response(403), 401),
        (httpx.Response(302, headers={"location": "https://elsewhere.example"}), 503),
        (httpx.Response(500), 503),
        (httpx.Response(200, text="no JSON"), 503),
        (httpx.Response(200, json={}), 503),
        (httpx.Response(200, json={"subject": ""}), 503),
        (httpx.Response(200, json={"subject": 7}), 503),
    ],
)
async def test_a_hook_that_does_not_say_who_it_is_gives_no_token(
    tmp_path: Path, answer: httpx.Response, status: int
) -> None:
    async with issuing(tmp_path) as issuer:
        issuer.hook.instead = answer
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        assert (await issuer.ask(request)).status_code == status
        health = (await issuer.http.get("/health")).json()
        assert health["reasons"] == (["login-unreachable"] if status == 503 else [])


@pytest.mark.parametrize("header", [None, "", "Basic YTpi", "Bearer", "Bearer a b"])
async def test_who_shows_nothing_gets_nothing(tmp_path: Path, header: str | None) -> None:
    async with issuing(tmp_path) as issuer:
        headers = {} if header is None else {"authorization": header}
        path = f"/v1/campaigns/{CAMPAIGN}/report-token"
        assert (await issuer.http.post(path, json={}, headers=headers)).status_code == 401


@pytest.mark.parametrize("request_bytes", [b"", b"\0\2" + bytes(257), b"\0\3" + bytes(257)])
async def test_what_is_no_request_for_the_key_is_refused(
    tmp_path: Path, request_bytes: bytes
) -> None:
    async with issuing(tmp_path) as issuer:
        if request_bytes[1:2] == b"\2":  # of the right type, for another key
            last = bytes([issuer.rules().key.id[-1] ^ 1])
            request_bytes = b"\0\2" + last + bytes(256)
        assert slug(await issuer.ask(request_bytes)) == "token-request-refused"


async def test_a_collector_that_does_not_answer_is_said(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuer.collector.is_down = True
        request = issuer.rules().request(TokenSecret.draw(issuer.rules().key))
        answer = await issuer.ask(request)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


async def test_a_second_process_is_refused(tmp_path: Path) -> None:
    keys = CampaignKeys(tmp_path)
    with pytest.raises(InputError, match="another issuer"):
        CampaignKeys(tmp_path)
    keys.close()
