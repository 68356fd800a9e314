"""Opt-in users over HTTP: one contribution each, encrypted, withdrawn while that is possible."""

from pathlib import Path
from uuid import UUID

import pytest
from service.running import CONSENT, Service, a_contribution, an_unknown_token, running, slug_of

from blender_dp.service.dependencies import Limits
from blender_dp.service.http.access import Rate
from blender_dp.service.keys.encrypted_records import make_decrypter
from blender_dp.service.keys.key_vault import KeyDestroyedError
from blender_dp.wire.service.contribution import consent_digest

pytestmark = pytest.mark.anyio
CANARY = "canary-of-somebody"


async def opened(service: Service, **changes: object) -> str:
    campaign = await service.created(**changes)
    await service.moved(campaign, "open-opt-in", "draft")
    return campaign


async def test_a_contribution_is_taken_once_and_the_same_again_changes_nothing(
    service: Service,
) -> None:
    campaign = await opened(service)
    [token] = await service.enrolled(campaign, 1)
    first, again = [await service.contribute(campaign, token) for _ in range(2)]
    assert (first.status_code, first.json()) == (201, {"repeated": False})
    assert (again.status_code, again.json()) == (200, {"repeated": True})
    other = await service.contribute(campaign, token, records=[])
    assert (other.status_code, slug_of(other)) == (409, "already-contributed")
    assert (await service.progress(campaign))["contributed"] == 1


@pytest.mark.parametrize("count", [0, 1, 10_000])
async def test_any_number_of_records_is_taken(service: Service, count: int) -> None:
    campaign = await opened(service)
    [token] = await service.enrolled(campaign, 1)
    records = [{"query": f"q{i}", "url": "u"} for i in range(count)]
    assert (await service.contribute(campaign, token, records=records)).status_code == 201
    records_of = make_decrypter(service.dependencies.keys, UUID(campaign))
    async for some in service.dependencies.store.contributions(UUID(campaign)):
        assert [len(records_of(one)) for one in some] == [count]


async def test_what_is_stored_is_sealed_and_has_the_receipt(fresh: Service, tmp_path: Path) -> None:
    campaign = await opened(fresh)
    [token] = await fresh.enrolled(campaign, 1)
    records = [{"query": CANARY, "url": f"{CANARY}.example"}]
    assert (await fresh.contribute(campaign, token, records=records)).status_code == 201
    async for [stored] in fresh.dependencies.store.contributions(UUID(campaign)):
        assert (stored.consent_version, stored.consent_digest) == ("1", consent_digest(CONSENT))
        assert make_decrypter(fresh.dependencies.keys, UUID(campaign))(stored) == [
            (CANARY, f"{CANARY}.example")
        ]
    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert CANARY.encode() not in content, path.name
            assert token.encode() not in content, path.name


async def test_withdrawal_is_for_good(service: Service) -> None:
    campaign = await opened(service)
    [token] = await service.enrolled(campaign, 1)
    headers = {"authorization": f"Bearer {token}"}
    await service.contribute(campaign, token)
    gone = await service.http.delete(f"/v1/campaigns/{campaign}/opt-in", headers=headers)
    assert (gone.status_code, gone.content) == (204, b"")
    assert slug_of(await service.contribute(campaign, token)) == "withdrawn"
    progress = await service.progress(campaign)
    assert (progress["contributed"], progress["withdrawn"]) == (0, 1)


async def test_nothing_is_taken_before_opening_or_after_sealing(service: Service) -> None:
    campaign = await service.created()
    tokens = await service.enrolled(campaign, 2)
    assert slug_of(await service.contribute(campaign, tokens[0])) == "campaign-not-collecting"
    await service.moved(campaign, "open-opt-in", "draft")
    await service.contribute(campaign, tokens[0])
    await service.moved(campaign, "seal-opt-in", "opt-in-open")
    assert slug_of(await service.contribute(campaign, tokens[1])) == "campaign-not-collecting"
    withdrawn = await service.http.delete(
        f"/v1/campaigns/{campaign}/opt-in", headers={"authorization": f"Bearer {tokens[0]}"}
    )
    assert slug_of(withdrawn) == "campaign-not-collecting"


async def test_only_an_enrolment_of_this_campaign_contributes(service: Service) -> None:
    campaign, other = await opened(service), await opened(service)
    [elsewhere] = await service.enrolled(other, 1)
    operator = service.as_role()["authorization"].removeprefix("Bearer ")
    for token in (elsewhere, operator, an_unknown_token()):
        answer = await service.contribute(campaign, token)
        assert (answer.status_code, slug_of(answer)) == (401, "token-unknown")
    missing = await service.http.post(f"/v1/campaigns/{campaign}/opt-in", json=a_contribution())
    assert slug_of(missing) == "token-missing"
    malformed = await service.contribute(campaign, "no-token")
    assert slug_of(malformed) == "token-unknown"


async def test_anybody_enrols_where_that_is_open(service: Service) -> None:
    campaign = await opened(service, open_enrolment=True)
    answer = await service.http.post(f"/v1/campaigns/{campaign}/enrol")
    assert answer.status_code == 201
    assert (await service.contribute(campaign, answer.json()["token"])).status_code == 201


async def test_nobody_enrols_where_it_is_closed_or_not_collecting(service: Service) -> None:
    closed = await opened(service, open_enrolment=False)
    answer = await service.http.post(f"/v1/campaigns/{closed}/enrol")
    assert (answer.status_code, slug_of(answer)) == (403, "enrolment-closed")
    draft = await service.created(open_enrolment=True)
    answer = await service.http.post(f"/v1/campaigns/{draft}/enrol")
    assert slug_of(answer) == "campaign-not-collecting"


TWICE = Rate(burst=2, per_second=1e-3)
"""Nothing comes back while a test runs."""


async def test_enrolling_and_wrong_tokens_are_limited_by_address(tmp_path: Path) -> None:
    async with running(
        tmp_path, limits=Limits(enrol=TWICE, wrong_tokens=TWICE, most_delta=0.5)
    ) as service:
        campaign = await opened(service)

        async def enrol() -> int:
            return (await service.http.post(f"/v1/campaigns/{campaign}/enrol")).status_code

        async def guess() -> int:
            headers = {"authorization": f"Bearer {an_unknown_token()}"}
            return (await service.http.get("/v1/whoami", headers=headers)).status_code

        async def upload() -> int:
            return (await service.contribute(campaign, an_unknown_token())).status_code

        assert [await enrol() for _ in range(3)] == [201, 201, 429]
        assert [await guess(), await upload(), await guess(), await upload()] == [
            401,
            401,
            429,
            429,
        ]


async def test_wrong_tokens_and_many_uploads_of_an_address_lock_out_no_valid_token_there(
    tmp_path: Path,
) -> None:
    limits = Limits(wrong_tokens=TWICE, opt_in=TWICE, most_delta=0.5)
    async with running(tmp_path, limits=limits) as service:
        campaign = await opened(service)
        busy, honest = await service.enrolled(campaign, 2)
        for _ in range(4):
            headers = {"authorization": f"Bearer {an_unknown_token()}"}
            await service.http.get("/v1/whoami", headers=headers)
            await service.contribute(campaign, an_unknown_token())
        assert (await service.http.get("/v1/whoami", headers=service.as_role())).status_code == 200
        uploads = [await service.contribute(campaign, busy) for _ in range(3)]
        assert [answer.status_code for answer in uploads] == [201, 200, 429]
        assert slug_of(uploads[-1]) == "too-many-requests"
        assert (await service.contribute(campaign, honest)).status_code == 201


async def test_a_destroyed_key_ends_the_collection(fresh: Service) -> None:
    campaign = await opened(fresh)
    [token] = await fresh.enrolled(campaign, 1)
    fresh.dependencies.keys.destroy(UUID(campaign))
    assert slug_of(await fresh.contribute(campaign, token)) == "campaign-not-collecting"
    with pytest.raises(KeyDestroyedError):
        make_decrypter(fresh.dependencies.keys, UUID(campaign))
