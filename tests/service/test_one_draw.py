"""Tests of the curator's noise: one draw per campaign, whatever is restored or copied."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import msgspec
import pytest
from service.running import Service, running

from blender_dp.core.head_list.head_list import Record
from blender_dp.service.campaign import Campaign
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.head_list import make_head_list
from blender_dp.service.keys.key_vault import (
    DrawnAlreadyError,
    KeyDestroyedError,
    KeyVault,
    Purpose,
)
from blender_dp.service.keys.one_draw import Fingerprint
from blender_dp.service.storage.sqlite.backup import back_up
from blender_dp.service.storage.store import Document
from campaign_stores import a_campaign

pytestmark = pytest.mark.anyio
USERS = 120
LIVE, COPY = "live", "copy"
Given = Sequence[tuple[bytes, Sequence[Record]]]
OWNERS = [bytes([number]) * 32 for number in range(3)]


async def drawn(service: Service, campaign: str) -> bytes | None:
    return await service.dependencies.store.document(UUID(campaign), Document.OPT_IN_ESTIMATES)


async def failures(service: Service, campaign: str) -> list[str]:
    jobs = (await service.progress(campaign))["jobs"]
    return [job["failure"] for job in jobs if job["failure"]]


@asynccontextmanager
async def restored(live: Path, copy: Path, *, with_keys: bool) -> AsyncIterator[Service]:
    """Run a service on a copy of the database, with the live keys or with their copy."""
    if not with_keys:
        (copy / "keys").symlink_to(live / "keys")
    async with running(copy) as service:
        yield service


def copied(live: Path, copy: Path, *, with_keys: bool) -> None:
    copy.mkdir()
    back_up(live / "service.sqlite", copy / "service.sqlite")
    if with_keys:
        shutil.copytree(live / "keys", copy / "keys")


@pytest.mark.parametrize("with_keys", [False, True])
async def test_the_same_records_get_the_same_noise(tmp_path: Path, with_keys: bool) -> None:
    live, copy = tmp_path / LIVE, tmp_path / COPY
    live.mkdir()
    async with running(live) as first:
        campaign = await first.with_contributions(USERS)
        await first.moved(campaign, "seal-opt-in", "opt-in-open")
        copied(live, copy, with_keys=with_keys)
        assert await first.worker.run_one()  # the keys are destroyed by the next job
        published = await drawn(first, campaign)
    async with restored(live, copy, with_keys=with_keys) as second:
        assert await second.worker.run_one()
        assert published is not None
        assert await drawn(second, campaign) == published


async def test_other_records_are_refused_once_a_result_is_recorded(tmp_path: Path) -> None:
    live, copy = tmp_path / LIVE, tmp_path / COPY
    live.mkdir()
    async with running(live) as first:
        campaign = await first.with_contributions(USERS)
        [token] = await first.enrolled(campaign, 1)
        copied(live, copy, with_keys=False)
        await first.moved(campaign, "seal-opt-in", "opt-in-open")
        assert await first.worker.run_one()
    async with restored(live, copy, with_keys=False) as second:
        assert (await second.contribute(campaign, token)).status_code == 201
        await second.moved(campaign, "seal-opt-in", "opt-in-open")
        assert await second.worker.run_one()
        assert await failures(second, campaign) == [Failure.DRAWN_ALREADY]
        assert await drawn(second, campaign) is None
        assert await second.state(campaign) == "opt-in-sealed"


async def test_a_job_that_dies_before_it_stores_its_result_gives_the_same_again(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as service:
        campaign = await service.with_contributions(USERS)
        await service.moved(campaign, "seal-opt-in", "opt-in-open")
        lost = await make_head_list(
            service.dependencies, await service.dependencies.store.campaign(UUID(campaign))
        )
        assert await service.worker.run_one()
        assert await drawn(service, campaign) == lost.documents[Document.OPT_IN_ESTIMATES]


async def test_an_empty_list_is_recorded_too(tmp_path: Path) -> None:
    """Otherwise a copy could look again and again until something is listed."""
    async with running(tmp_path) as service:
        campaign = await service.with_contributions(5, parameters={"epsilon": 0.1, "delta": 1e-9})
        await service.moved(campaign, "seal-opt-in", "opt-in-open")
        assert await service.worker.run_one()
        assert await failures(service, campaign) == [Failure.EMPTY_HEAD_LIST]
        with pytest.raises(DrawnAlreadyError):
            service.dependencies.keys.record_draw(UUID(campaign), bytes(32))


def test_a_record_is_made_once_and_outlives_the_keys(tmp_path: Path) -> None:
    campaign = a_campaign().id
    vault = KeyVault(tmp_path)
    vault.key(campaign, Purpose.RECORDS)
    vault.record_draw(campaign, b"1" * 32)
    vault.destroy(campaign)
    for again in (vault, KeyVault(tmp_path)):
        again.record_draw(campaign, b"1" * 32)
        with pytest.raises(DrawnAlreadyError, match="other data"):
            again.record_draw(campaign, b"2" * 32)
        with pytest.raises(KeyDestroyedError):
            again.key(campaign, Purpose.RECORDS)


def test_parts_that_run_together_are_told_apart() -> None:
    """No two lists of contributions have one fingerprint, wherever one ends and the next begins."""
    campaign, records = a_campaign(), [Record("q", "u.example")]
    together, apart = Fingerprint(campaign), Fingerprint(campaign)
    encoded = msgspec.msgpack.encode(records)
    together.add(b"owner" + encoded + b"other", records)
    apart.add(b"owner", records)
    apart.add(b"other", records)
    draws = [made.randomness(bytes(32)).draw_bytes(32) for made in (together, apart)]
    assert draws[0] != draws[1]


def test_the_noise_depends_on_everything_that_the_list_is_computed_from() -> None:
    first, second = a_campaign(), a_campaign()
    given = [(owner, [Record(f"query {owner[0]}", "u.example")]) for owner in OWNERS]

    def noise(campaign: Campaign, given: Given, key: bytes = bytes(32)) -> bytes:
        fingerprint = Fingerprint(campaign)
        for owner, records in given:
            fingerprint.add(owner, records)
        source = fingerprint.randomness(key)
        assert source.is_private
        return source.draw_bytes(32)

    usual = noise(first, given)
    assert noise(first, given) == usual
    others = [
        noise(second, given),
        noise(first, given[:2]),
        noise(first, given[::-1]),
        noise(first, [*given[:2], (OWNERS[2], [])]),
        noise(first, [*given[:2], (OWNERS[2], given[2][1] * 2)]),
        noise(first, [*given[:2], (b"another" * 4, given[2][1])]),
        noise(first, given, b"k" * 32),
    ]
    assert len({usual, *others}) == 1 + len(others)
