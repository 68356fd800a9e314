"""Report tokens: issued once for each enrolment, and counted once in one report."""

from typing import Any
from uuid import UUID

import pytest
from service.relays import LEAST_BATCH, RelayedCampaign, relayed_campaign
from service.running import Published, Service, a_campaign, an_unknown_token, slug_of
from service.token_holders import TOKENS, TokenCampaign, ask, token_campaign

from blender_dp.service.keys.key_vault import (
    KeyDestroyedError,
    report_tokens_key,
)
from blender_dp.wire.relayed.encrypted_report import RelayedReport
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.report_token import (
    REQUEST_BYTES,
    TokenRules,
    TokenSecret,
    blinded_message_in,
)
from blender_dp.wire.tokens.token_key import TokenKey

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def campaign(service: Service) -> TokenCampaign:
    return await token_campaign(service)


@pytest.fixture(scope="module")
async def other(service: Service) -> TokenCampaign:
    return await token_campaign(service)


async def counted(campaign: TokenCampaign) -> int:
    reports = (await campaign.service.progress(campaign.id))["reports"]
    return int(reports["record"] + reports["query"])


async def test_from_enrolment_to_release(service: Service) -> None:
    campaign = await token_campaign(service)
    tokens = [await campaign.token_that_asks("record")]
    tokens += [await campaign.token() for _ in range(3)]
    alone = await campaign.send(campaign.report(tokens[0]))
    assert (alone.status_code, alone.json()) == (202, {"accepted": 1, "repeated": 0})
    batch = campaign.published.batch_of(
        [campaign.report(token, number) for number, token in enumerate(tokens[1:])]
    )
    answer = await campaign.send(batch)
    assert answer.json() == {"accepted": 3, "repeated": 0}
    progress = await service.progress(campaign.id)
    assert progress["tokens"] >= 4
    await service.moved(campaign.id, "seal-clients", "clients-open")
    await service.jobs_done()
    release = (await service.http.get(f"/v1/campaigns/{campaign.id}/release")).json()
    assert release["users"] == {"opt_in": 120, "clients": 4}
    with pytest.raises(KeyDestroyedError):
        report_tokens_key(service.dependencies.keys, UUID(campaign.id))


async def test_the_list_names_the_key_and_the_description_the_rule(campaign: TokenCampaign) -> None:
    service = campaign.service
    shown = (await service.http.get(f"/v1/campaigns/{campaign.id}")).json()
    assert (shown["reports"], shown["issuer"]) == ("token", None)
    assert shown["description"]["reports"] == "token"
    key = TokenKey(report_tokens_key(service.dependencies.keys, UUID(campaign.id)).public_key())
    assert campaign.published.head_list.token_key == key.text


async def test_an_open_campaign_has_no_key_and_issues_nothing(
    service: Service, published: Published
) -> None:
    document = (await service.http.get(f"/v1/campaigns/{published.campaign}/head-list")).json()
    assert "token_key" not in document["head_list"]
    shown = (await service.http.get(f"/v1/campaigns/{published.campaign}")).json()
    assert shown["reports"] == "open"
    assert "reports" not in shown["description"]
    assert not list(
        service.dependencies.keys.directory.glob(f"{published.campaign}.report-tokens*")
    )
    answer = await ask(service, published.campaign, an_unknown_token(), bytes(REQUEST_BYTES))
    assert (answer.status_code, slug_of(answer)) == (404, "no-report-tokens")


async def test_the_same_request_gets_the_same_answer_and_another_none(
    campaign: TokenCampaign,
) -> None:
    (enrolment,) = await campaign.service.enrolled(campaign.id, 1)
    requests = [campaign.rules.request(TokenSecret.draw(campaign.rules.key)) for _ in range(2)]
    answers = [await campaign.ask(enrolment, requests[0]) for _ in range(3)]
    assert len({answer.content for answer in answers}) == 1
    refused = await campaign.ask(enrolment, requests[1])
    assert (refused.status_code, slug_of(refused)) == (409, "token-issued-already")
    assert (await campaign.ask(enrolment, requests[0])).content == answers[0].content


async def test_a_person_who_contributed_gets_no_token_and_who_withdrew_does(
    service: Service,
) -> None:
    id_ = await service.with_contributions(**TOKENS)
    stayed, left = await service.enrolled(id_, 2)
    for enrolment in (stayed, left):
        assert (await service.contribute(id_, enrolment)).status_code == 201
    headers = {"authorization": f"Bearer {left}"}
    assert (await service.http.delete(f"/v1/campaigns/{id_}/opt-in", headers=headers)).is_success
    early = await ask(service, id_, left, bytes(REQUEST_BYTES))
    assert (early.status_code, slug_of(early)) == (409, "campaign-not-collecting")
    await service.moved(id_, "seal-opt-in", "opt-in-open")
    await service.jobs_done()
    campaign = TokenCampaign(service=service, published=await service.published_list(id_))
    request = campaign.rules.request(TokenSecret.draw(campaign.rules.key))
    refused = await campaign.ask(stayed, request)
    assert (refused.status_code, slug_of(refused)) == (409, "already-contributed")
    assert (await campaign.ask(left, request)).status_code == 200


async def test_nobody_without_an_enrolment_gets_a_token(
    campaign: TokenCampaign, other: TokenCampaign
) -> None:
    request = campaign.rules.request(TokenSecret.draw(campaign.rules.key))
    answer = await campaign.ask(an_unknown_token(), request)
    assert (answer.status_code, slug_of(answer)) == (401, "token-unknown")
    path = f"/v1/campaigns/{campaign.id}/report-token"
    answer = await campaign.service.http.post(path, json={"version": 1, "request": "A" * 346})
    assert (answer.status_code, slug_of(answer)) == (401, "token-missing")
    (enrolment,) = await campaign.service.enrolled(other.id, 1)
    answer = await campaign.ask(enrolment, request)
    assert (answer.status_code, slug_of(answer)) == (401, "token-unknown")


async def test_open_enrolment_goes_on_while_tokens_are_issued(
    campaign: TokenCampaign, published: Published
) -> None:
    service = campaign.service
    answer = await service.http.post(f"/v1/campaigns/{campaign.id}/enrol")
    assert answer.status_code == 201
    assert await campaign.token(answer.json()["token"])
    answer = await service.http.post(f"/v1/campaigns/{published.campaign}/enrol")
    assert slug_of(answer) == "campaign-not-collecting"


@pytest.mark.parametrize("change", ["type", "key", "modulus", "spelling"])
async def test_a_request_that_cannot_be_signed_is_refused(
    campaign: TokenCampaign, change: str
) -> None:
    (enrolment,) = await campaign.service.enrolled(campaign.id, 1)
    request = bytearray(campaign.rules.request(TokenSecret.draw(campaign.rules.key)))
    if change == "type":
        request[1] = 1
    if change == "key":
        request[2] ^= 1
    if change == "modulus":
        request[3:] = b"\xff" * 256
    text = to_text(bytes(request))
    answer = await campaign.service.http.post(
        f"/v1/campaigns/{campaign.id}/report-token",
        json={"version": 1, "request": text[:-1] + "B" if change == "spelling" else text},
        headers={"authorization": f"Bearer {enrolment}"},
    )
    assert (answer.status_code, slug_of(answer)) == (422, "token-request-refused")


async def test_a_second_report_with_a_token_is_a_retry_or_refused(campaign: TokenCampaign) -> None:
    token, before = await campaign.token(), await counted(campaign)
    report = campaign.report(token)
    assert (await campaign.send(report)).json() == {"accepted": 1, "repeated": 0}
    assert (await campaign.send(report)).json() == {"accepted": 0, "repeated": 1}
    other = campaign.report(token, 1)
    while other["items"] == report["items"]:
        other = campaign.report(token, 1)
    answer = await campaign.send(other)
    assert (answer.status_code, slug_of(answer)) == (409, "report-id-reused")
    assert await counted(campaign) == before + 1


async def test_a_token_twice_in_a_batch_is_refused(campaign: TokenCampaign) -> None:
    token = await campaign.token()
    batch = campaign.published.batch_of([campaign.report(token), campaign.report(token)])
    answer = await campaign.send(batch)
    assert (answer.status_code, slug_of(answer)) == (422, "repeated-report-id")


async def bad_tokens(
    campaign: TokenCampaign, other: TokenCampaign
) -> dict[str, tuple[Any, int, str]]:
    """Return what is no token of the campaign, and the refusal of it."""
    good = await campaign.token()
    forger = read_signing_key(draw_signing_key())
    forged = TokenRules(TokenKey(forger.public_key()), UUID(campaign.id))
    secret = TokenSecret.draw(forged.key)
    signed = BlindSigner(forger).sign(blinded_message_in(forged.request(secret), forged.key))
    invalid, malformed = (422, "invalid-report-token"), (422, "malformed-report-token")
    return {
        "of another campaign": (to_text(await other.token()), *invalid),
        "of another key": (to_text(forged.token(secret, signed)), *invalid),
        "one bit changed": (to_text(good[:-1] + bytes([good[-1] ^ 1])), *invalid),
        "zeros": (to_text(bytes(354)), *invalid),
        "short": (to_text(good[:-1]), *malformed),
        "not base64url": ("+" * 472, *malformed),
        "empty": ("", *malformed),
        "a number": (7, 400, "body-not-understood"),
    }


async def test_no_other_token_counts(campaign: TokenCampaign, other: TokenCampaign) -> None:
    before, report = await counted(campaign), campaign.report(await campaign.token())
    good = campaign.report(await campaign.token())
    for why, (token, status, slug) in (await bad_tokens(campaign, other)).items():
        bad = {**report, "token": token}
        for body in (bad, campaign.published.batch_of([good, bad])):
            answer = await campaign.send(body)
            assert (answer.status_code, slug_of(answer)) == (status, slug), why
    assert await counted(campaign) == before


async def test_ids_are_for_open_campaigns_and_tokens_for_the_others(
    campaign: TokenCampaign, published: Published
) -> None:
    report = campaign.report(await campaign.token())
    with_id = {**{k: v for k, v in report.items() if k != "token"}, "report_id": "A" * 22}
    both = {**report, "report_id": "A" * 22}
    for body in (with_id, both, campaign.published.batch_of([with_id])):
        answer = await campaign.send(body)
        assert (answer.status_code, slug_of(answer)) == (400, "body-not-understood")
    own = published.report()
    with_token = {**{k: v for k, v in own.items() if k != "report_id"}, "token": report["token"]}
    answer = await campaign.service.send(published.campaign, with_token)
    assert (answer.status_code, slug_of(answer)) == (400, "body-not-understood")


async def test_relayed_reports_carry_their_token_inside(
    service: Service, other: TokenCampaign
) -> None:
    relayed = await relayed_campaign(service, clients=0, is_sealed=False, **TOKENS)
    campaign = TokenCampaign(service=service, published=await service.published_list(relayed.id))
    tokens = campaign.signed_tokens(LEAST_BATCH + 1)
    direct = campaign.report(tokens[0])
    assert (await campaign.send(direct)).status_code == 202
    foreign = other.signed_tokens(3)
    await service.moved(relayed.id, "seal-clients", "clients-open")
    valid = [encrypted(relayed, token) for token in tokens[1:]]
    bad = [encrypted(relayed, token) for token in [*foreign, bytes(354)]]
    again = [encrypted(relayed, tokens[0]), encrypted(relayed, tokens[1], 1)]
    await relayed.sent([*valid, *bad, *again])
    batch = (await relayed.released())["relay_batch"]
    assert batch["refused"] == {"invalid-report-token": 4, "repeated-report-id": 2}
    assert batch["counted"] == LEAST_BATCH


def encrypted(campaign: RelayedCampaign, token: bytes, cell: int = 0) -> bytes:
    assert campaign.signed.relay is not None
    report = RelayedReport.with_token(token, cell)
    return campaign.encryption.encrypt(report, campaign.signed.relay.encryption_key)


async def test_another_server_may_issue_under_the_key_that_the_campaign_names(
    service: Service,
) -> None:
    private = read_signing_key(draw_signing_key())
    key = TokenKey(private.public_key())
    issuer = {"address": "https://issuer.example", "public_key": key.text}
    campaign = await token_campaign(service, issuer=issuer)
    assert campaign.published.head_list.token_key == key.text
    shown = (await service.http.get(f"/v1/campaigns/{campaign.id}")).json()
    assert shown["issuer"]["address"] == "https://issuer.example/"
    assert shown["description"]["issuer"] == shown["issuer"]
    answer = await campaign.ask(an_unknown_token(), bytes(REQUEST_BYTES))
    assert slug_of(answer) == "no-report-tokens"
    secret = TokenSecret.draw(key)
    request = campaign.rules.request(secret)
    token = campaign.rules.token(
        secret, BlindSigner(private).sign(blinded_message_in(request, key))
    )
    assert (await campaign.send(campaign.report(token))).status_code == 202


async def test_a_campaign_with_the_issuer_key_of_another_is_refused(service: Service) -> None:
    key = TokenKey(read_signing_key(draw_signing_key()).public_key())
    issuer = {"address": "https://issuer.example/", "public_key": key.text}
    await service.created(**TOKENS, issuer=issuer)
    elsewhere = {**issuer, "address": "https://other.example/"}
    answer = await service.http.post(
        "/v1/campaigns", json=a_campaign(**TOKENS, issuer=elsewhere), headers=service.as_role()
    )
    assert (slug_of(answer), answer.json()["where"]) == ("parameters-refused", "issuer.public_key")
    assert key.text not in answer.text


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"issuer": {"address": "https://issuer.example/", "public_key": "A" * 456}}, "issuer"),
        ({"reports": "anybody"}, None),
    ],
)
async def test_campaigns_with_impossible_issuers_are_refused(
    service: Service, changes: dict[str, Any], where: str | None
) -> None:
    for reports in ({}, {"reports": "token"}):
        answer = await service.http.post(
            "/v1/campaigns", json=a_campaign(**reports | changes), headers=service.as_role()
        )
        assert answer.status_code in (400, 422), answer.text
        assert where is None or where in answer.json()["where"]


async def test_keys_that_were_lost_sign_nothing(fresh: Service) -> None:
    """A key that is made anew is not the one in the list: its signatures would all be refused."""
    campaign = await token_campaign(fresh)
    (enrolment,) = await fresh.enrolled(campaign.id, 1)
    (path,) = fresh.dependencies.keys.directory.glob(f"{campaign.id}.report-tokens.key")
    path.unlink()
    request = campaign.rules.request(TokenSecret.draw(campaign.rules.key))
    answer = await campaign.ask(enrolment, request)
    assert (answer.status_code, slug_of(answer)) == (503, "keys-gone")
