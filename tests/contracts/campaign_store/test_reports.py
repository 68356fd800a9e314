"""Reports count exactly once, in every store."""

import asyncio
from dataclasses import replace
from random import Random
from uuid import UUID, uuid4

import numpy as np
import pytest

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.service.campaign import Move, State
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Reason, StoreRefusal
from blender_dp.wire.reports.service_report import NamedItems
from campaign_stores import (
    CELLS,
    QUERIES,
    moved,
    opened_for_clients,
    opened_for_opt_in,
    report_id,
    some_reports,
)

pytestmark = pytest.mark.anyio


async def cell_counts(store: DatabaseStore, campaign: UUID) -> list[int]:
    return [int(count) for count in (await store.report_counts(campaign)).cells]


async def test_reports_are_counted_by_the_items_they_name(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    added = await store.add_reports(campaign, some_reports([1, 2, 3], cells=[0, 6, 6]))
    assert added == Added(accepted=3, repeated=0)
    counts = await store.report_counts(campaign)
    assert counts.cells.tolist() == [1, 0, 0, 0, 0, 0, 2]
    assert counts.queries.tolist() == [0] * QUERIES
    assert (counts.cell_reports, counts.query_reports) == (3, 0)


def named(question: Question, *, reports: list[int], items: list[list[int]]) -> NamedItems:
    return NamedItems(question=question, reports=np.array(reports), items=np.array(items))


async def test_both_questions_of_one_request_are_counted_apart(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    mixed = CheckedReports(
        ids=b"".join(report_id(i) for i in range(3)),
        tags=b"tagtagta" * 3,
        answers=[
            NamedItems(
                question="record", reports=np.array([0, 2]), items=np.array([[0, 1], [1, 5]])
            ),
            NamedItems(question="query", reports=np.array([1]), items=np.array([[2]])),
        ],
    )
    assert await store.add_reports(campaign, mixed) == Added(accepted=3, repeated=0)
    counts = await store.report_counts(campaign)
    assert counts.cells.tolist() == [1, 2, 0, 0, 0, 1, 0]
    assert counts.queries.tolist() == [0, 0, 1]
    assert (counts.cell_reports, counts.query_reports) == (2, 1)
    progress = await store.progress(campaign)
    assert (progress.record_reports, progress.query_reports) == (2, 1)


async def test_a_retried_report_counts_once(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([1]))
    assert await store.add_reports(campaign, some_reports([1])) == Added(accepted=0, repeated=1)
    assert await cell_counts(store, campaign) == [0, 1, 0, 0, 0, 0, 0]


async def test_of_a_batch_only_what_is_new_is_counted(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([2, 4], cells=[2, 4]))
    added = await store.add_reports(campaign, some_reports([1, 2, 3, 4], cells=[1, 2, 3, 4]))
    assert added == Added(accepted=2, repeated=2)
    assert await cell_counts(store, campaign) == [0, 1, 1, 1, 1, 0, 0]


def singles(reports: CheckedReports) -> CheckedReports:
    """Return reports that came alone and were checked together."""
    return replace(reports, are_singles=True)


async def outcomes_of(store: DatabaseStore, campaign: UUID, reports: CheckedReports) -> list[str]:
    """Return how each of several single reports ended."""
    outcomes = await store.add_singles(campaign, singles(reports))
    return [
        str(outcome) if isinstance(outcome, StoreRefusal)
        else type(outcome).__name__ if isinstance(outcome, Exception)
        else "accepted" if outcome == Added(accepted=1, repeated=0)
        else "repeated" if outcome == Added(accepted=0, repeated=1)
        else "wrong"
        for outcome in outcomes
    ]  # fmt: skip


async def test_single_reports_are_added_each_by_itself(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    assert await outcomes_of(store, campaign, some_reports([1, 2, 3])) == ["accepted"] * 3
    given = [some_reports([4, 2, 5, 5]), some_reports([1, 6], cells=[4, 5], tag=b"another!")]
    both = CheckedReports(
        ids=b"".join(one.ids for one in given),
        tags=b"".join(one.tags for one in given),
        answers=[
            named("query", reports=[0, 4], items=[[0], [1]]),
            named("record", reports=[1, 2, 3, 5], items=[[2], [5], [5], [6]]),
        ],
    )
    assert await outcomes_of(store, campaign, both) == [
        *("accepted", "repeated", "accepted", "repeated"),
        *(f"refused: {Reason.REPORT_ID_REUSED}", "accepted"),
    ]
    counts = await store.report_counts(campaign)
    assert counts.cells.tolist() == [1, 1, 1, 0, 0, 1, 1]
    assert counts.queries[0] == counts.query_reports == 1
    assert counts.queries[1] == 0


async def test_a_bug_in_one_single_report_spoils_no_other(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    given = some_reports([1, 2, 3], cells=[0, CELLS, 1])
    assert await outcomes_of(store, campaign, given) == [
        *("accepted", "BrokenInvariantError", "accepted")
    ]
    assert await cell_counts(store, campaign) == [1, 1, 0, 0, 0, 0, 0]


async def test_single_reports_wait_beside_batches(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    alone = [outcomes_of(store, campaign, some_reports([i, 100 + i])) for i in range(10)]
    batches = [store.add_reports(campaign, some_reports([i, 200 + i])) for i in range(10)]
    answers = await asyncio.gather(*alone, *batches)
    accepted = sum(answer.count("accepted") for answer in answers[:10] if isinstance(answer, list))
    accepted += sum(answer.accepted for answer in answers[10:] if isinstance(answer, Added))
    assert accepted == 30 == sum(await cell_counts(store, campaign))


async def test_single_reports_are_refused_together_where_none_is_taken(
    store: DatabaseStore,
) -> None:
    early = await opened_for_opt_in(store)
    for campaign, reason in (early, Reason.NOT_COLLECTING), (uuid4(), Reason.UNKNOWN_CAMPAIGN):
        with pytest.raises(StoreRefusal, match=reason):
            await store.add_singles(campaign, singles(some_reports([1, 2])))


async def test_an_id_with_another_content_refuses_the_whole_batch(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([1]))
    with pytest.raises(StoreRefusal, match=Reason.REPORT_ID_REUSED):
        await store.add_reports(campaign, some_reports([0, 1, 2], tag=b"another!"))
    assert await cell_counts(store, campaign) == [0, 1, 0, 0, 0, 0, 0]
    assert await store.add_reports(campaign, some_reports([0])) == Added(accepted=1, repeated=0)


async def test_an_id_twice_in_one_request_is_refused(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    with pytest.raises(StoreRefusal, match=Reason.REPORT_ID_REUSED):
        await store.add_reports(campaign, some_reports([5, 5]))
    assert await cell_counts(store, campaign) == [0] * CELLS


async def test_the_same_id_in_two_campaigns_is_two_reports(store: DatabaseStore) -> None:
    one, other = await opened_for_clients(store), await opened_for_clients(store)
    await store.add_reports(one, some_reports([1]))
    assert await store.add_reports(other, some_reports([1])) == Added(accepted=1, repeated=0)


async def test_reports_before_opening_and_after_sealing_are_refused(store: DatabaseStore) -> None:
    early = await opened_for_opt_in(store)
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await store.add_reports(early, some_reports([1]))
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([1]))
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await store.add_reports(campaign, some_reports([2]))
    assert sum(await cell_counts(store, campaign)) == 1


@pytest.mark.parametrize("cell", [CELLS, CELLS + 1000])
async def test_an_item_beyond_the_list_is_a_bug_that_spoils_nothing(
    store: DatabaseStore, cell: int
) -> None:
    campaign = await opened_for_clients(store)
    wrong = store.add_reports(campaign, some_reports([1], cells=[cell]))
    right = store.add_reports(campaign, some_reports([2], cells=[0]))
    first, second = await asyncio.gather(wrong, right, return_exceptions=True)
    assert isinstance(first, BrokenInvariantError)
    assert second == Added(accepted=1, repeated=0)
    assert await cell_counts(store, campaign) == [1, 0, 0, 0, 0, 0, 0]


async def test_what_is_refused_does_not_undo_what_came_with_it(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([0], cells=[0]))
    requests = [store.add_reports(campaign, some_reports([i], cells=[1])) for i in range(1, 40)]
    reused = store.add_reports(campaign, some_reports([0], cells=[1], tag=b"another!"))
    repeated = store.add_reports(campaign, some_reports([0], cells=[0]))
    *answers, refused, again = await asyncio.gather(
        *requests, reused, repeated, return_exceptions=True
    )
    assert answers == [Added(accepted=1, repeated=0)] * 39
    assert isinstance(refused, StoreRefusal)
    assert again == Added(accepted=0, repeated=1)
    assert await cell_counts(store, campaign) == [1, 39, 0, 0, 0, 0, 0]


async def test_requests_that_wait_together_may_have_the_same_id(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    twice = [some_reports([i], cells=[2]) for i in range(20) for _ in range(2)]
    others = [some_reports([100 + i, 200 + i], cells=[3, 4]) for i in range(20)]
    answers = await asyncio.gather(*(store.add_reports(campaign, one) for one in [*twice, *others]))
    assert [sorted(a.accepted for a in answers[i : i + 2]) for i in range(0, 40, 2)] == [
        [0, 1]
    ] * 20
    assert [a.accepted + a.repeated for a in answers] == [1] * 40 + [2] * 20
    assert await cell_counts(store, campaign) == [0, 0, 20, 20, 20, 0, 0]


async def test_uploads_that_race_a_seal_have_definite_answers(
    store: DatabaseStore, other_store: DatabaseStore, seed: int
) -> None:
    campaign = await opened_for_clients(store)
    rng = Random(seed)
    accepted = 0
    refused: set[Reason] = set()
    enough = asyncio.Event()

    async def upload(uploader: int) -> None:
        nonlocal accepted
        through = rng.choice([store, other_store])
        for i in range(10_000):
            try:
                added = await through.add_reports(
                    campaign, some_reports([uploader * 10_000 + i], cells=[0])
                )
            except StoreRefusal as refusal:
                refused.add(refusal.reason)
                return
            accepted += added.accepted
            if accepted > 500:
                enough.set()

    async def seal() -> None:
        await enough.wait()
        await moved(other_store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)

    await asyncio.gather(seal(), *(upload(i) for i in range(64)))
    assert accepted > 500
    assert refused == {Reason.NOT_COLLECTING}
    assert await cell_counts(store, campaign) == [accepted, *[0] * (CELLS - 1)]


async def test_two_processes_with_the_same_reports_count_them_once(
    store: DatabaseStore, other_store: DatabaseStore, seed: int
) -> None:
    campaign = await opened_for_clients(store)
    rng = Random(seed)

    async def upload(through: DatabaseStore) -> int:
        numbers = list(range(200))
        rng.shuffle(numbers)
        added = await asyncio.gather(
            *(
                through.add_reports(campaign, some_reports(numbers[i : i + 5], cells=[3] * 5))
                for i in range(0, 200, 5)
            )
        )
        return sum(one.accepted for one in added)

    accepted = await asyncio.gather(*(upload(s) for s in (store, other_store, store)))
    assert sum(accepted) == 200
    assert await cell_counts(store, campaign) == [0, 0, 0, 200, 0, 0, 0]


async def test_a_flood_is_refused_rather_than_lost(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    batches = [some_reports(range(i * 5000, (i + 1) * 5000), cells=[2] * 5000) for i in range(30)]
    answers = await asyncio.gather(
        *(store.add_reports(campaign, batch) for batch in batches), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, StoreRefusal)]
    accepted = sum(answer.accepted for answer in answers if isinstance(answer, Added))
    assert {refusal.reason for refusal in refused} == {Reason.OVERLOADED}
    assert accepted == 5000 * (len(answers) - len(refused))
    assert (await cell_counts(store, campaign))[2] == accepted


async def test_what_was_accepted_is_there_after_closing(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    campaign = await opened_for_clients(store)
    waiting = [
        asyncio.ensure_future(store.add_reports(campaign, some_reports([i], cells=[1])))
        for i in range(100)
    ]
    await asyncio.sleep(0)  # every one of them is in the queue now
    await store.close()
    answers = await asyncio.gather(*waiting)
    assert answers == [Added(accepted=1, repeated=0)] * 100
    assert (await cell_counts(other_store, campaign))[1] == 100
