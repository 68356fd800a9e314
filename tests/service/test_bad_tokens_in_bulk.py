"""Forged, reused and foreign tokens in bulk: none counts, and no answer is a failure.

``BLENDER_TOKENS=10000`` sends as many of each; the suite sends fewer.
"""

import os

import pytest
from service.running import Service, slug_of
from service.token_holders import TokenCampaign, token_campaign, tokens_signed_by

from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.tokens.blind_signer import draw_signing_key, read_signing_key

pytestmark = pytest.mark.anyio
EACH = int(os.environ.get("BLENDER_TOKENS", "60"))
TOKEN_INPUT_BYTES = 98


@pytest.fixture(scope="module")
async def campaign(service: Service) -> TokenCampaign:
    return await token_campaign(service)


async def counted(campaign: TokenCampaign) -> int:
    reports = (await campaign.service.progress(campaign.id))["reports"]
    return int(reports["record"] + reports["query"])


async def test_forged_tokens_count_nothing(campaign: TokenCampaign) -> None:
    """Random signatures, and those of another key, over what this campaign's issuer would sign."""
    stranger = read_signing_key(draw_signing_key())
    forged = tokens_signed_by(stranger, campaign.rules, EACH // 2)
    forged += [token[:TOKEN_INPUT_BYTES] + os.urandom(256) for token in forged]
    await assert_refused(campaign, forged)


async def test_foreign_tokens_count_nothing(campaign: TokenCampaign) -> None:
    other = await token_campaign(campaign.service)
    await assert_refused(campaign, other.signed_tokens(EACH))


async def assert_refused(campaign: TokenCampaign, tokens: list[bytes]) -> None:
    (good,) = campaign.signed_tokens(1)
    report, before = campaign.report(good), await counted(campaign)
    for token in tokens:
        answer = await campaign.send({**report, "token": to_text(token)})
        assert (answer.status_code, slug_of(answer)) == (422, "invalid-report-token")
    assert await counted(campaign) == before


async def test_reused_tokens_count_once(campaign: TokenCampaign) -> None:
    tokens = campaign.signed_tokens(EACH)
    batch = campaign.published.batch_of([campaign.report(token) for token in tokens])
    before = await counted(campaign)
    assert (await campaign.send(batch)).json() == {"accepted": EACH, "repeated": 0}
    for token, first in zip(tokens, batch["reports"], strict=True):
        again = campaign.report(token, 1)
        while again["items"] == first["items"]:
            again = campaign.report(token, 1)
        answer = await campaign.send(again)
        assert (answer.status_code, slug_of(answer)) == (409, "report-id-reused")
    assert (await campaign.send(batch)).json() == {"accepted": 0, "repeated": EACH}
    assert await counted(campaign) == before + EACH
