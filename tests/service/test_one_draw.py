"""Tests of the curator's noise: one draw per campaign, whatever is restored or copied."""

import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from service.running import Service, a_relay, running

from blender_dp.core.blender import curate
from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.certificate.certify import certify_plan
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.service.campaign import Campaign
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.head_list import make_head_list
from blender_dp.service.keys import one_draw
from blender_dp.service.keys.key_vault import (
    DrawnAlreadyError,
    KeyDestroyedError,
    KeyVault,
    Purpose,
)
from blender_dp.service.keys.one_draw import ALGORITHM, Fingerprint
from blender_dp.service.storage.sqlite.backup import back_up
from blender_dp.service.storage.store import Document
from blender_dp.service.storage.store_population import ContributedRows, contributed_users
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.published.estimates import opt_in_document
from blender_dp.wire.published.parameters import parameters_document
from campaign_stores import a_campaign

pytestmark = pytest.mark.anyio
USERS = 120
LIVE, COPY = "live", "copy"
Given = Sequence[tuple[bytes, Sequence[Record]]]
OWNERS = [bytes([number]) * 32 for number in range(3)]


PARAMETERS = a_campaign().parameters


def derived(
    fingerprint: Fingerprint,
    key: bytes = bytes(32),
    parameters: Parameters = PARAMETERS,
    plan: Certificate | None = None,
) -> Randomness:
    return fingerprint.randomness(key, parameters, plan or certify_plan(PARAMETERS))


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
    draws = [derived(made).draw_bytes(32) for made in (together, apart)]
    assert draws[0] != draws[1]


def test_the_noise_depends_on_everything_that_the_list_is_computed_from() -> None:
    first, second = a_campaign(), a_campaign()
    given = [(owner, [Record(f"query {owner[0]}", "u.example")]) for owner in OWNERS]

    def noise(campaign: Campaign, given: Given, key: bytes = bytes(32), **drawn: Any) -> bytes:
        fingerprint = Fingerprint(campaign)
        for owner, records in given:
            fingerprint.add(owner, records)
        source = derived(fingerprint, key, **drawn)
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
        noise(first, given, parameters=replace(PARAMETERS, estimation_share=0.05)),
        noise(first, given, plan=certify_plan(replace(PARAMETERS, estimation_share=0.05))),
    ]
    assert len({usual, *others}) == 1 + len(others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_draw, "GAUSS_ADVANTAGE", 0.77)
        assert noise(first, given) not in {usual, *others}


@pytest.mark.parametrize(("relay_clients", "share"), [(None, None), (119, None), (120, "0.05")])
async def test_the_noise_is_derived_from_the_share_that_is_used(
    tmp_path: Path, relay_clients: int | None, share: str | None
) -> None:
    """It follows from the number of those who contributed, and not from the campaign alone."""
    relay = None if relay_clients is None else a_relay(least_batch=relay_clients)
    used: list[Parameters] = []
    with pytest.MonkeyPatch.context() as patch:
        noise = Fingerprint.randomness

        def seen(made: Fingerprint, key: bytes, drawn: Parameters, plan: Certificate) -> Randomness:
            used.append(drawn)
            assert plan == certify_plan(drawn)
            return noise(made, key, drawn, plan)

        patch.setattr(Fingerprint, "randomness", seen)
        async with running(tmp_path) as service:
            campaign = await service.with_contributions(USERS, relay=relay)
            await service.moved(campaign, "seal-opt-in", "opt-in-open")
            assert await service.worker.run_one()
            released = read_object("", await drawn(service, campaign) or b"")
    assert [parameters_document(parameters) for parameters in used] == [released["parameters"]]
    assert released["parameters"].get("estimation_share") == share


LISTS = [
    Parameters(epsilon=4.0, delta=1e-2, one_record_each=True),
    Parameters(epsilon=1.0, delta=1e-2, list_of="auto"),
    Parameters(epsilon=8.0, delta=1e-2, estimation_share=0.05),
    Parameters(epsilon=4.0, delta=1e-2, preset="paper"),
]

KNOWN = KnownList.of(
    [Record("q0", "0.example"), *(Record(f"nobody has {i}", "u") for i in range(400))]
)
"""What the lists of ``sharp`` know, most of it in vain."""


def listed(lists: Sequence[Parameters]) -> tuple[list[str | None], str]:
    """Return the branches of some lists of fixed records, and the digest of what was drawn."""
    rows, drawn = ContributedRows(), []
    for user in range(600):
        rows.add([Record(f"q{i}", f"{i % 3}.example") for i in range(user % 5 + user % 17 // 3)])
    for parameters in lists:
        source = Randomness.keyed(bytes(32))
        known = KNOWN if parameters.preset == "sharp" else NOTHING_KNOWN
        with contributed_users(rows, parameters, source) as users:
            drawn.append(curate(users, parameters, source, clients=1_000, known=known))
    released = [
        (one.head_list.records(), document.get("tally", document.get("noisy_counts")))
        for one in drawn
        for document in [opt_in_document(one)]
    ]
    text = json.dumps(released, sort_keys=True)
    return [one.branch for one in drawn], hashlib.sha256(text.encode()).hexdigest()[:32]


def test_a_change_of_the_draw_raises_the_number_of_the_algorithm() -> None:
    """If the digest is another one: raise ALGORITHM, then write both here.

    Without that, an earlier version and this one would draw noise for the same campaign of which
    one is a multiple of the other.
    """
    branches, digest = listed(LISTS)
    assert branches == ["laplace", "gauss", "gauss", None]
    assert (ALGORITHM, digest) == (
        3,
        "524819e564a9a9bda4273a875aee9894",
    )


def test_a_change_of_a_rule_would_be_seen() -> None:
    """Twin: another branch rule, share, or limit on what stays by noise draws other lists."""
    for parameters, rule, value in (
        (LISTS[1], "curator.discovery.GAUSS_ADVANTAGE", 0.2),
        (LISTS[0], "curator.budget.ESTIMATION_SHARE", Fraction(16, 100)),
        (LISTS[0], "create_head_list.known_records.MOST_BY_NOISE", 1.0),
    ):
        _, digest = listed([parameters])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"blender_dp.core.{rule}", value)
            assert listed([parameters])[1] != digest
