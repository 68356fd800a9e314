"""A campaign that knows the release of an earlier one: its records need no threshold."""

import json
from typing import Any
from uuid import uuid4

import pytest
from service.running import Service, a_campaign, slug_of, uuid_of

from blender_dp.core.certificate.certify import certify_plan
from blender_dp.service.keys.one_draw import Fingerprint
from blender_dp.service.storage.store import Document
from campaign_stores import a_campaign as a_stored_campaign

pytestmark = pytest.mark.anyio


async def released(service: Service) -> str:
    """Return a campaign with a release."""
    published = await service.published()
    await service.send(published.campaign, published.batch(50))
    await service.moved(published.campaign, "seal-clients", "clients-open")
    await service.jobs_done()
    return published.campaign


async def test_a_campaign_knows_the_release_before_it(fresh: Service) -> None:
    earlier = await released(fresh)
    release = (await fresh.http.get(f"/v1/campaigns/{earlier}/release")).json()
    names = {(row["query"], row["url"]) for row in release["records"] if row["url"]}
    later = await fresh.published(known=earlier)
    shown = (await fresh.http.get(f"/v1/campaigns/{later.campaign}")).json()
    assert shown["known"] == shown["description"]["known"] == earlier
    estimates = await fresh.dependencies.store.document(
        uuid_of(later.campaign), Document.OPT_IN_ESTIMATES
    )
    known = json.loads(estimates or b"")["tally"]["known"]
    listed = list(later.head_list.records())
    assert sum(known) > 0
    assert {record for record, was in zip(listed, known, strict=True) if was} <= names


async def refused(service: Service, **changes: Any) -> tuple[str, str]:
    answer = await service.http.post(
        "/v1/campaigns", json=a_campaign(**changes), headers=service.as_role()
    )
    return slug_of(answer), answer.json()["where"]


async def test_a_campaign_without_a_release_is_not_known(service: Service) -> None:
    draft = await service.created()
    for known in (draft, str(uuid4())):
        assert await refused(service, known=known) == ("parameters-refused", "known")
    plain = await service.http.get(f"/v1/campaigns/{draft}")
    assert plain.json()["known"] is None
    assert "known" not in plain.json()["description"]


async def test_the_algorithm_as_printed_knows_nothing(service: Service) -> None:
    parameters = {"epsilon": 4, "delta": 1e-5, "preset": "paper"}
    known = str(uuid4())
    assert await refused(service, parameters=parameters, known=known) == (
        "parameters-refused",
        "known",
    )


async def test_another_known_release_has_other_noise() -> None:
    """What the list is computed from decides its noise; a known list is part of it."""

    campaign = a_stored_campaign()

    def first_bits(*releases: bytes) -> int:
        fingerprint = Fingerprint(campaign)
        for release in releases:
            fingerprint.add_known(release)
        parameters = campaign.parameters
        source = fingerprint.randomness(bytes(32), parameters, certify_plan(parameters))
        return source.bits(64)

    drawn = [first_bits(), first_bits(b"one"), first_bits(b"two")]
    assert len(set(drawn)) == 3
    assert first_bits(b"one") == drawn[1]
