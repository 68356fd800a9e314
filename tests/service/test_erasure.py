"""Raw records are nowhere in clear, ever; once erased, not even an old backup gives them back."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from uuid import UUID

import asyncpg
import pytest

from blender_dp.service.campaign import JobKind, Move, Rules, State
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.erase import erase as erase_job
from blender_dp.service.keys.encrypted_records import RecordCipher
from blender_dp.service.keys.key_vault import KeyDestroyedError, KeyVault, Purpose
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite.backup import back_up
from blender_dp.service.storage.store import Contribution
from blender_dp.wire.reports.packed_items import to_text
from campaign_stores import (
    NOW,
    a_campaign,
    a_contribution,
    a_release,
    leased,
    moved,
    opened_for_opt_in,
    publish_list,
)
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
CANARIES = [f"canary-{i}-3f1c9a7e".encode() for i in range(20)]
OWNERS = [bytes([i]) * 32 for i in range(len(CANARIES))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A store, its keys and every file that either of them has."""

    store: DatabaseStore
    vault: KeyVault
    address: str
    directories: list[Path]
    back_up: Callable[[Path], None]

    def found(self, *secrets: bytes) -> set[bytes]:
        """Return those secrets that are in some file, in clear or as the digits of a dump."""
        return {
            secret
            for content in self._contents()
            for secret in secrets
            if secret in content or secret.hex().encode() in content
        }

    def _contents(self) -> Iterator[bytes]:
        for directory in self.directories:
            for path in directory.rglob("*"):
                if path.is_file():
                    yield path.read_bytes()

    async def flush(self) -> None:
        """Let the server write its memory to its files, so that a scan sees everything."""
        if self.address.startswith("postgresql"):
            connection = await asyncpg.connect(self.address)
            await connection.execute("CHECKPOINT")
            await connection.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    (tmp_path / "copies").mkdir()
    if request.param == "sqlite":
        opened = await sqlite_place(tmp_path)
    else:
        opened = await postgres_place(tmp_path, request.getfixturevalue("postgres_server"))
    yield opened
    await opened.store.close()


async def postgres_place(tmp_path: Path, server: PostgresServer) -> Place:
    address = await server.fresh_database()
    return Place(
        store=await open_store(address),
        vault=KeyVault(tmp_path / "keys"),
        address=address,
        directories=[tmp_path, server.cluster],
        back_up=partial(server.dump, address),
    )


async def sqlite_place(tmp_path: Path) -> Place:
    path = tmp_path / "campaigns.sqlite"
    return Place(
        store=await open_store(str(path)),
        vault=KeyVault(tmp_path / "keys"),
        address=str(path),
        directories=[tmp_path],
        back_up=partial(back_up, path),
    )


async def contributed(place: Place, encrypt: Callable[[UUID, bytes, bytes], bytes]) -> UUID:
    """Store one canary per person."""
    campaign = await opened_for_opt_in(place.store)
    await place.store.add_enrolments(campaign, OWNERS)
    for owner, canary in zip(OWNERS, CANARIES, strict=True):
        content = encrypt(campaign, owner, canary)
        await place.store.contribute(campaign, a_contribution(owner, content))
    await place.flush()
    return campaign


def with_key_of(place: Place) -> Callable[[UUID, bytes, bytes], bytes]:
    def encrypt(campaign: UUID, owner: bytes, canary: bytes) -> bytes:
        key = place.vault.key(campaign, Purpose.RECORDS)
        return RecordCipher(key=key, campaign=campaign).encrypt(canary, enrolment=owner)

    return encrypt


async def stored(place: Place, campaign: UUID) -> list[Contribution]:
    return [one async for piece in place.store.contributions(campaign) for one in piece]


async def erase(place: Place, campaign: UUID) -> None:
    """Run the erase job itself."""
    dependencies = cast("Dependencies", SimpleNamespace(store=place.store, keys=place.vault))
    await erase_job(dependencies, await place.store.campaign(campaign))
    await place.flush()


async def test_no_canary_is_ever_in_clear_and_the_key_is_gone_at_last(
    place: Place, tmp_path: Path
) -> None:
    campaign = await contributed(place, with_key_of(place))
    key = place.vault.key(campaign, Purpose.RECORDS)
    place.back_up(tmp_path / "backup before publishing")
    assert place.found(key, *CANARIES) == {key}
    await publish_list(place.store, campaign)
    place.back_up(tmp_path / "backup before erasing")
    await erase(place, campaign)
    assert place.found(key, *CANARIES) == set()
    with pytest.raises(KeyDestroyedError):
        place.vault.key(campaign, Purpose.RECORDS)


async def test_the_scan_would_find_a_canary_in_clear(place: Place, tmp_path: Path) -> None:
    """The test above has teeth: without encryption every canary is found, in the backup too."""
    await contributed(place, lambda _campaign, _owner, canary: canary)
    assert place.found(*CANARIES) == set(CANARIES)
    place.back_up(tmp_path / "copies" / "backup")
    backup = replace(place, directories=[tmp_path / "copies"])
    assert backup.found(*CANARIES) == set(CANARIES)


async def test_keys_are_in_no_backup(place: Place, tmp_path: Path) -> None:
    campaign = await contributed(place, with_key_of(place))
    key = place.vault.key(campaign, Purpose.RECORDS)
    place.back_up(tmp_path / "copies" / "backup")
    assert not replace(place, directories=[tmp_path / "copies"]).found(key)


async def test_the_live_file_of_sqlite_holds_not_even_encrypted_records(tmp_path: Path) -> None:
    place = await sqlite_place(tmp_path)
    campaign = await contributed(place, with_key_of(place))
    pieces = [one.encrypted[100:140] for one in await stored(place, campaign)]
    assert place.found(*pieces) == set(pieces)
    await publish_list(place.store, campaign)
    await erase(place, campaign)
    assert place.found(*pieces) == set()
    await place.store.close()


async def test_an_old_backup_cannot_be_read_once_the_key_is_gone(tmp_path: Path) -> None:
    backup = tmp_path / "backup.sqlite"
    place = await sqlite_place(tmp_path)
    campaign = await contributed(place, with_key_of(place))
    key = place.vault.key(campaign, Purpose.RECORDS)
    place.back_up(backup)
    await publish_list(place.store, campaign)
    await erase(place, campaign)
    await place.store.close()
    old = await open_store(str(backup))
    kept = [one async for piece in old.contributions(campaign) for one in piece]
    await old.close()
    cipher = RecordCipher(key=key, campaign=campaign)  # remembered here, and nowhere else any more
    opened = {cipher.decrypt(one.encrypted, enrolment=one.enrolment) for one in kept}
    assert opened == set(CANARIES)
    with pytest.raises(KeyDestroyedError):
        place.vault.key(campaign, Purpose.RECORDS)


async def sealed_with_relay(place: Place) -> UUID:
    """Return a campaign that waits for its relay's batch."""
    relay = CampaignRelay(
        address="https://relay.example/", public_key=to_text(bytes(32)), least_batch=20
    )
    campaign = replace(a_campaign(), relay=relay, rules=Rules(relay_wait_hours=48))
    await place.store.put_campaign(campaign, actor="ada")
    await moved(place.store, campaign.id, Move.OPEN_OPT_IN, State.DRAFT)
    await publish_list(place.store, campaign.id)
    await moved(place.store, campaign.id, Move.OPEN_CLIENTS, State.LIST_PUBLISHED)
    await moved(place.store, campaign.id, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    return campaign.id


@pytest.mark.parametrize("end", ["release", "purge"])
async def test_relayed_reports_and_their_key_are_gone_with_the_end(place: Place, end: str) -> None:
    """PostgreSQL's journal may keep encrypted reports: the server decides when it is reused."""
    campaign = await sealed_with_relay(place)
    key = place.vault.key(campaign, Purpose.RELAYED_REPORTS)
    pieces = [os.urandom(64) for _ in range(30)]
    statement = {"count": 30, "pieces": len(pieces), "digest": "sha256:" + "1" * 64}
    signed = {"statement": statement}
    for number, piece in enumerate(pieces):
        await place.store.add_relayed_piece(campaign, signed, piece=number, encrypted=piece)
    await place.flush()
    await erase(place, campaign)  # one that was put off, while the release waits
    assert place.vault.key(campaign, Purpose.RELAYED_REPORTS) == key
    assert place.found(*pieces) == set(pieces)
    if end == "release":
        await place.store.settle_relayed_batch(campaign, signed, is_right=True, now=NOW)
        lease = await leased(place.store, JobKind.RELEASE)
        await place.store.finish(lease, replace(a_release(), relayed_counted=30), now=NOW)
    else:
        await moved(place.store, campaign, Move.PURGE, State.CLIENTS_SEALED)
    await erase(place, campaign)
    assert place.found(key) == set()
    if not place.address.startswith("postgresql"):
        assert place.found(*pieces) == set()
    with pytest.raises(KeyDestroyedError):
        place.vault.key(campaign, Purpose.RELAYED_REPORTS)
    batch = await place.store.relayed_batch(campaign)
    assert batch is not None
    assert batch.pieces == []
