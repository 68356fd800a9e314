"""The route of relays: one signed batch per campaign, in pieces, once and whole."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from service.relays import LEAST_BATCH, RelayedCampaign, relayed_campaign
from service.running import Service, slug_of

from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.relayed.batch import read_statement
from blender_dp.wire.service.hash_chain import require_chain

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def waiting(service: Service) -> RelayedCampaign:
    """Return a campaign whose relay gets nothing accepted."""
    return await relayed_campaign(service, clients=2)


@pytest.fixture
async def campaign(service: Service) -> RelayedCampaign:
    return await relayed_campaign(service, clients=2)


async def test_pieces_come_out_of_order_and_twice_and_are_then_complete(
    campaign: RelayedCampaign,
) -> None:
    assert (await campaign.shown())["state"] == "waiting"
    bodies = campaign.batch(campaign.honest(70), pieces=3).bodies()
    for place, received in ((2, [2]), (0, [0, 2]), (2, [0, 2])):
        answer = await campaign.send(bodies[place])
        assert (answer.status_code, answer.json()["pieces_received"]) == (202, received)
        assert answer.json()["complete"] is False
    last = await campaign.send(bodies[1])
    again = await campaign.send(bodies[0])
    for answer in (last, again):
        shown = answer.json()
        assert (shown["state"], shown["complete"], shown["count"]) == ("complete", True, 70)
    statement = (await campaign.shown())["statement"]
    assert read_statement(statement).statement.count == 70


async def test_the_public_log_has_the_statement_of_a_whole_batch(
    campaign: RelayedCampaign,
) -> None:
    reports = campaign.honest(LEAST_BATCH)
    await campaign.sent(reports)
    entries = (await campaign.service.http.get("/v1/log")).json()["entries"]
    require_chain(entries)
    statement = campaign.batch(reports).statement.document()
    logged = [one for one in entries if one["kind"] == "relay-batch"]
    assert logged[-1]["digest"] == digest_of_bytes(canonical(statement))
    assert logged[-1]["campaign"] == campaign.id


async def test_a_batch_of_another_relay_is_refused(waiting: RelayedCampaign) -> None:
    batch = waiting.batch(waiting.honest(LEAST_BATCH))
    (body,) = replace(batch, key=Ed25519PrivateKey.generate()).bodies()
    assert slug_of(await waiting.send(body)) == "another-relay"
    (right,) = batch.bodies()
    for stolen in (
        {**body, "public_key": right["public_key"]},
        {**right, "statement": {**right["statement"], "count": LEAST_BATCH + 1}},
    ):
        assert slug_of(await waiting.send(stolen)) == "another-relay"
    assert (await waiting.shown())["statement"] is None


async def test_a_batch_of_another_campaign_is_refused(service: Service) -> None:
    """The statement names its campaign, so the same relay's signature does not help."""
    key = Ed25519PrivateKey.generate()
    one, other = [replace(await relayed_campaign(service, clients=2), key=key) for _ in range(2)]
    (body,) = other.batch(other.honest(LEAST_BATCH)).bodies()
    assert slug_of(await one.send(body)) in ("another-head-list", "another-relay")
    moved = other.batch(other.honest(LEAST_BATCH), head_list=one.signed.digest)
    (body,) = moved.bodies()
    assert slug_of(await one.send(body)) in ("relayed-batch-refused", "another-relay")


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"head_list": "sha256:" + "0" * 64}, "another-head-list"),
        ({"campaign": uuid4()}, "relayed-batch-refused"),
        ({"count": LEAST_BATCH + 1}, "relayed-batch-refused"),
        ({"pieces": LEAST_BATCH + 1}, "relayed-batch-refused"),
        ({"digest": "sha256:" + "0" * 64}, "relayed-digest-wrong"),
    ],
)
async def test_a_statement_that_is_not_so_is_refused(
    waiting: RelayedCampaign, changes: dict[str, Any], slug: str
) -> None:
    batch = waiting.batch(waiting.honest(LEAST_BATCH))
    (body, *_) = replace(batch, statement=replace(batch.statement, **changes)).bodies()
    assert slug_of(await waiting.send(body)) == slug
    shown = await waiting.shown()
    assert (shown["state"], shown["pieces_received"]) == ("waiting", [])


async def test_a_batch_below_the_least_is_refused(waiting: RelayedCampaign) -> None:
    (body,) = waiting.batch(waiting.honest(LEAST_BATCH - 1)).bodies()
    answer = await waiting.send(body)
    assert (slug_of(answer), answer.json()["where"]) == ("relayed-batch-refused", "count")


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        ({"reports": ["AAAA"] * LEAST_BATCH}, "relayed-batch-refused"),
        ({"reports": ["!"] * LEAST_BATCH}, "relayed-batch-refused"),
        ({"reports": []}, "body-not-understood"),
        ({"piece": 1}, "relayed-batch-refused"),
        ({"piece": -1}, "body-not-understood"),
        ({"version": 2}, "body-not-understood"),
        ({"signature": "A" * 85}, "body-not-understood"),
        ({"signature": "A" * 86}, "another-relay"),
        ({"sender": "me"}, "body-not-understood"),
    ],
)
async def test_a_piece_that_is_not_as_documented_is_refused(
    waiting: RelayedCampaign, change: dict[str, Any], slug: str
) -> None:
    (body,) = waiting.batch(waiting.honest(LEAST_BATCH)).bodies()
    assert slug_of(await waiting.send({**body, **change})) == slug
    without = {name: value for name, value in body.items() if name not in change}
    if "sender" not in change:
        assert (await waiting.send(without)).status_code in (400, 422)


async def test_another_content_for_a_piece_and_a_second_batch_are_refused(
    campaign: RelayedCampaign,
) -> None:
    bodies = campaign.batch(campaign.honest(70), pieces=2).bodies()
    assert (await campaign.send(bodies[0])).status_code == 202
    swapped = {**bodies[0], "reports": bodies[0]["reports"][::-1]}
    assert slug_of(await campaign.send(swapped)) == "relayed-batch-changed"
    second = campaign.batch(campaign.honest(70), pieces=2).bodies()
    assert slug_of(await campaign.send(second[1])) == "relayed-batch-changed"
    assert (await campaign.send(bodies[1])).json()["complete"]


async def test_a_relay_says_that_it_destroyed_its_reports(campaign: RelayedCampaign) -> None:
    for _ in range(2):
        answer = await campaign.send(campaign.destroyed(12))
        assert answer.status_code == 202
        shown = answer.json()
        assert (shown["state"], shown["count"], shown["complete"]) == ("destroyed", 12, False)
    (body,) = campaign.batch(campaign.honest(LEAST_BATCH)).bodies()
    assert slug_of(await campaign.send(body)) == "relayed-batch-changed"
    forged = replace(campaign, key=Ed25519PrivateKey.generate()).destroyed(12)
    assert slug_of(await campaign.send(forged)) == "another-relay"


async def test_nothing_is_taken_before_the_side_is_sealed_or_without_a_relay(
    service: Service,
) -> None:
    campaign = await relayed_campaign(service, clients=2, is_sealed=False)
    (body,) = campaign.batch(campaign.honest(LEAST_BATCH)).bodies()
    assert slug_of(await campaign.send(body)) == "campaign-not-collecting"
    assert (await campaign.shown())["state"] == "waiting"
    plain = await service.created()
    path = f"/v1/campaigns/{plain}/relayed-reports"
    assert slug_of(await service.http.get(path)) == "no-relay"
    assert slug_of(await service.http.post(path, json=body)) == "no-relay"
    nowhere = f"/v1/campaigns/{uuid4()}/relayed-reports"
    assert slug_of(await service.http.get(nowhere)) == "unknown-campaign"


async def test_a_purged_campaign_takes_no_batch(campaign: RelayedCampaign) -> None:
    bodies = campaign.batch(campaign.honest(70), pieces=2).bodies()
    assert (await campaign.send(bodies[0])).status_code == 202
    await campaign.service.moved(campaign.id, "purge", "clients-sealed")
    assert slug_of(await campaign.send(bodies[1])) == "campaign-not-collecting"
    assert (await campaign.shown())["state"] == "absent"
