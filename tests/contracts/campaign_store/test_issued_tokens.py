"""One report token for each enrolment, in every store, even if a process is killed."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from blender_dp.service.campaign import Move, Reports, State
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import (
    a_contribution,
    moved,
    opened_for_clients,
    opened_for_opt_in,
    publish_list,
)

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
ADA, BOB = b"a" * 32, b"b" * 32
FIRST, SECOND = b"1" * 32, b"2" * 32
POINTS = ("before-begin", "after-token", "before-commit", "after-commit")


async def refusal(store: DatabaseStore, campaign: UUID, who: bytes, request: bytes) -> Reason:
    with pytest.raises(StoreRefusal) as refused:
        await store.issue_token(campaign, who, request)
    return refused.value.reason


async def test_an_enrolment_gets_one_token(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store, Reports.TOKEN)
    await store.add_enrolments(campaign, [ADA, BOB])
    for _ in range(3):
        await store.issue_token(campaign, ADA, FIRST)
    assert await refusal(store, campaign, ADA, SECOND) is Reason.TOKEN_ISSUED
    await store.issue_token(campaign, BOB, SECOND)
    assert (await store.progress(campaign)).tokens == 2


async def test_who_is_not_enrolled_gets_none(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store, Reports.TOKEN)
    other = await opened_for_clients(store, Reports.TOKEN)
    await store.add_enrolments(other, [ADA])
    assert await refusal(store, campaign, ADA, FIRST) is Reason.UNKNOWN_ENROLMENT
    assert await refusal(store, UUID(int=7), ADA, FIRST) is Reason.UNKNOWN_CAMPAIGN


async def test_who_contributed_gets_none_and_who_withdrew_gets_one(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store, Reports.TOKEN)
    await store.add_enrolments(campaign, [ADA, BOB])
    for enrolment in (ADA, BOB):
        await store.contribute(campaign, a_contribution(enrolment))
    await store.withdraw(campaign, BOB)
    assert await refusal(store, campaign, BOB, FIRST) is Reason.NOT_COLLECTING
    await publish_list(store, campaign)
    assert await refusal(store, campaign, ADA, FIRST) is Reason.ALREADY_CONTRIBUTED
    await store.issue_token(campaign, BOB, FIRST)


async def test_people_enrol_until_the_clients_side_is_closed(store: DatabaseStore) -> None:
    open_ = await opened_for_clients(store)
    with pytest.raises(StoreRefusal):
        await store.add_enrolments(open_, [BOB])
    campaign = await opened_for_clients(store, Reports.TOKEN)
    await store.add_enrolments(campaign, [ADA])
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    with pytest.raises(StoreRefusal) as refused:
        await store.add_enrolments(campaign, [BOB])
    assert refused.value.reason is Reason.NOT_COLLECTING
    assert await refusal(store, campaign, ADA, FIRST) is Reason.NOT_COLLECTING


async def test_a_purge_deletes_who_got_a_token(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store, Reports.TOKEN)
    await store.add_enrolments(campaign, [ADA])
    await store.issue_token(campaign, ADA, FIRST)
    await moved(store, campaign, Move.PURGE, State.CLIENTS_OPEN)
    await store.scrub(campaign)
    progress = await store.progress(campaign)
    assert (progress.tokens, progress.enrolled) == (0, 0)


async def test_of_many_requests_at_once_one_is_signed(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store, Reports.TOKEN)
    await store.add_enrolments(campaign, [ADA])
    requests = [bytes([number]) * 32 for number in range(12)]
    outcomes = await asyncio.gather(
        *(store.issue_token(campaign, ADA, request) for request in requests),
        return_exceptions=True,
    )
    assert [outcome for outcome in outcomes if outcome is None] == [None]
    refused = {outcome.reason for outcome in outcomes if isinstance(outcome, StoreRefusal)}
    assert refused == {Reason.TOKEN_ISSUED}


@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_gives_nobody_two_tokens_or_none(address: str, point: str) -> None:
    """The request that was being stored can be repeated; once one was acknowledged, no other."""
    store = await open_store(address)
    campaign = await opened_for_clients(store, Reports.TOKEN)
    await store.add_enrolments(campaign, [ADA])
    await store.close()
    command = [sys.executable, HERE / "issuing_process.py", address, campaign, point]
    done = await asyncio.to_thread(
        subprocess.run,
        [*map(str, command)],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    store = await open_store(address)
    is_stored = (await store.progress(campaign)).tokens == 1
    assert is_stored == (point == "after-commit")
    await store.issue_token(campaign, ADA, FIRST)
    assert await refusal(store, campaign, ADA, SECOND) is Reason.TOKEN_ISSUED
    assert (await store.progress(campaign)).tokens == 1
    await store.close()
