"""The list of a campaign with a relay: what relay clients report, to whom, and under which key."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from service.running import Service, a_relay

from blender_dp.core.certificate.certify import certify_plan
from blender_dp.service.keys.key_vault import KeyDestroyedError, relayed_reports_key
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.published.certificate import planned_document
from blender_dp.wire.relayed.encrypted_report import encryption_key_of
from blender_dp.wire.service.signed_head_list import read_signed_head_list

pytestmark = pytest.mark.anyio


async def test_the_signed_list_names_the_relay_and_the_key_of_its_reports(service: Service) -> None:
    published = await service.published(relay=a_relay(least_batch=500, epsilon_cap=7.5))
    document = (await service.http.get(f"/v1/campaigns/{published.campaign}/head-list")).json()
    signed = read_signed_head_list(document)
    assert signed.relay is not None
    assert signed.relay.address == "https://relay.example/"
    assert signed.relay.public_key == a_relay()["public_key"]
    key = relayed_reports_key(service.dependencies.keys, UUID(published.campaign))
    assert signed.relay.encryption_key == encryption_key_of(key)
    relay = signed.head_list.relay
    assert relay is not None
    assert (relay.least_batch, relay.honest) == (500, 400)
    assert (relay.epsilon, relay.delta) == (4.0, 1e-2)
    assert 4 < relay.report_epsilon <= 7.5
    shown = (await service.http.get(f"/v1/campaigns/{published.campaign}")).json()
    assert digest_of(shown["description"]) == signed.description
    certificate = (await service.http.get(f"/v1/campaigns/{published.campaign}/certificate")).json()
    assert [account["to"] for account in certificate["accounts"]][-2:] == [
        "relay clients, unless relay and collector collude",
        "relay clients, if relay and collector collude",
    ]
    page = (await service.http.get(f"/join/{published.campaign}")).text
    assert f"{relay.report_epsilon:.4g} if they do." in page


@pytest.mark.parametrize(("least_batch", "share"), [(500, 0.05), (99, None)])
async def test_a_campaign_is_shown_with_the_certificate_of_the_share_that_is_used(
    service: Service, least_batch: int, share: float | None
) -> None:
    """While nobody knows how many opt in, the larger cost is shown: that of the smaller share."""
    campaign = await service.with_contributions(100, relay=a_relay(least_batch=least_batch))

    async def shown() -> Any:
        return (await service.http.get(f"/v1/campaigns/{campaign}")).json()["certificate"]

    stored = (await service.dependencies.store.campaign(UUID(campaign))).parameters
    plans = {
        share: planned_document(certify_plan(replace(stored, estimation_share=share)))
        for share in (0.05, None)
    }
    assert await shown() == plans[0.05] != plans[None]
    await service.moved(campaign, "seal-opt-in", "opt-in-open")
    assert await shown() == plans[share]
    await service.jobs_done()
    assert await service.state(campaign) == "list-published"
    assert await shown() == plans[share]


async def test_a_list_without_a_relay_has_no_such_key(service: Service) -> None:
    published = await service.published()
    document = (await service.http.get(f"/v1/campaigns/{published.campaign}/head-list")).json()
    assert "relay" not in document
    assert "relay" not in document["head_list"]
    directory = service.dependencies.keys.directory
    assert not list(directory.glob(f"{published.campaign}.relayed-reports*"))


async def test_a_purge_destroys_the_key_of_the_relayed_reports(service: Service) -> None:
    published = await service.published(relay=a_relay(least_batch=500))
    await service.moved(published.campaign, "purge", "clients-open")
    await service.jobs_done()
    with pytest.raises(KeyDestroyedError):
        relayed_reports_key(service.dependencies.keys, UUID(published.campaign))
