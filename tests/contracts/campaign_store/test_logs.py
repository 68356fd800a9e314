"""The two hash-chained logs and the tokens, in every store."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.service.campaign_description import description
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Chain, Token
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.service.hash_chain import entry_hash
from campaign_stores import LATER, NOW, a_campaign, opened_for_clients, opened_for_opt_in

pytestmark = pytest.mark.anyio


async def every_entry(store: DatabaseStore, chain: Chain) -> Sequence[Mapping[str, Any]]:
    return await store.log_entries(chain, start=0, limit=10_000)


def assert_chained(entries: Sequence[Mapping[str, Any]]) -> None:
    previous = None
    for index, entry in enumerate(entries):
        assert entry["index"] == index
        assert entry["previous"] == previous
        assert entry["hash"] == entry_hash(entry)
        previous = entry["hash"]
    times = [entry["time"] for entry in entries]
    assert times == sorted(times)


async def test_what_happens_to_a_campaign_is_in_the_audit_log(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    entries = await every_entry(store, Chain.AUDIT)
    assert_chained(entries)
    assert [(entry["kind"], entry["actor"]) for entry in entries] == [
        ("campaign", "ada"),
        ("open-opt-in", "ada"),
        ("seal-opt-in", "ada"),
        ("publish-list", "job head-list"),
        ("erase", "job erase"),
        ("open-clients", "ada"),
    ]
    assert {entry["campaign"] for entry in entries} == {str(campaign)}


async def test_the_public_log_holds_a_campaign_to_its_description(store: DatabaseStore) -> None:
    campaign = await store.campaign(await opened_for_opt_in(store))
    (entry,) = await every_entry(store, Chain.PUBLIC)
    assert_chained([entry])
    assert (entry["kind"], entry["digest"]) == ("campaign", digest_of(description(campaign)))
    assert "actor" not in entry
    other = replace(campaign, expected_clients=campaign.expected_clients + 1)
    assert entry["digest"] != digest_of(description(other))


async def test_a_log_is_read_from_any_index_on(store: DatabaseStore) -> None:
    for i in range(5):
        await store.note(f"note {i}", actor="ada", campaign_id=None, now=NOW)
    some = await store.log_entries(Chain.AUDIT, start=1, limit=2)
    assert [entry["kind"] for entry in some] == ["note 1", "note 2"]
    assert await store.log_entries(Chain.AUDIT, start=5, limit=2) == []


async def test_a_clock_that_goes_back_does_not_take_the_log_with_it(store: DatabaseStore) -> None:
    await store.note("first", actor="ada", campaign_id=uuid4(), now=LATER)
    await store.note("second", actor="ada", campaign_id=None, now=NOW)
    entries = await every_entry(store, Chain.AUDIT)
    assert_chained(entries)
    assert entries[0]["time"] == entries[1]["time"]


async def test_many_writers_make_one_chain(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    await asyncio.gather(
        *(
            one.note(f"{i}", actor="ada", campaign_id=None, now=NOW + timedelta(seconds=i))
            for i in range(30)
            for one in (store, other_store)
        )
    )
    entries = await every_entry(store, Chain.AUDIT)
    assert len(entries) == 60
    assert_chained(entries)


async def test_a_campaign_that_stays_a_draft_is_nobodys_business(store: DatabaseStore) -> None:
    await store.put_campaign(a_campaign(), actor="ada")
    assert await every_entry(store, Chain.PUBLIC) == []


async def test_tokens_are_found_by_digest_until_they_are_revoked(store: DatabaseStore) -> None:
    token = Token(name="ada", role="operator", digest=b"d" * 32, created_at=NOW)
    await store.add_token(token)
    assert await store.token(b"d" * 32) == token
    assert await store.token(b"e" * 32) is None
    await store.revoke_token("ada", now=LATER)
    assert await store.token(b"d" * 32) is None
    assert await store.tokens() == [replace(token, revoked_at=LATER)]
    await store.revoke_token("ada", now=LATER + timedelta(days=1))
    assert await store.tokens() == [replace(token, revoked_at=LATER)]


async def test_a_name_is_given_to_one_token_only(store: DatabaseStore) -> None:
    token = Token(name="ada", role="operator", digest=b"d" * 32, created_at=NOW)
    await store.add_token(token)
    with pytest.raises(ParameterError, match="name must be one that no token has"):
        await store.add_token(replace(token, digest=b"e" * 32))
    with pytest.raises(ParameterError, match="name must be the name of a token"):
        await store.revoke_token("bob", now=NOW)
