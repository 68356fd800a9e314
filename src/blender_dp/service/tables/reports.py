"""Reports: their ids, so that each counts once, and what they named, as counters and nothing else.

Requests that wait together are counted together. That takes a handful of statements whatever their
number, as long as all their ids are new; otherwise they are counted one by one, each all or none.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, compress
from uuid import UUID

import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.population import ReportCounts
from blender_dp.core.report import Question
from blender_dp.service.campaign import State
from blender_dp.service.database import Transaction
from blender_dp.service.store import Added, Answers, CheckedReports, Reason, StoreRefusal
from blender_dp.service.tables import campaigns

Outcome = Added | Exception
_COUNT = np.dtype("<i8")
_TRIES = 5
"""Each try sees the ids of one more writer that was faster."""


class _SomeKnownError(Exception):
    """Not all ids are new."""


async def add_together(
    tx: Transaction, campaign_id: str, requests: Sequence[CheckedReports]
) -> Sequence[Outcome]:
    """Count the reports of several requests to one campaign; none of them undoes another."""
    try:
        await tx.attempt(partial(_add_new, campaign_id=campaign_id, requests=requests))
    except (_SomeKnownError, StoreRefusal, BrokenInvariantError):
        return [await _outcome(tx, campaign_id, request) for request in requests]
    return [Added(accepted=len(request.ids), repeated=0) for request in requests]


async def _outcome(tx: Transaction, campaign_id: str, request: CheckedReports) -> Outcome:
    try:
        return await _add_alone(tx, campaign_id, request)
    except (StoreRefusal, BrokenInvariantError) as refusal:
        return refusal


async def _add_alone(tx: Transaction, campaign_id: str, request: CheckedReports) -> Added:
    for _ in range(_TRIES):
        try:
            return await tx.attempt(partial(_add_unknown, campaign_id=campaign_id, request=request))
        except _SomeKnownError:
            continue
    raise StoreRefusal(Reason.OVERLOADED)


async def _add_unknown(tx: Transaction, *, campaign_id: str, request: CheckedReports) -> Added:
    number = await campaigns.require_state(tx, campaign_id, State.CLIENTS_OPEN)
    known = await tx.known_tags(number, request.ids)
    given = dict(zip(request.ids, request.tags, strict=True))
    if len(given) != len(request.ids) or any(given[id_] != tag for id_, tag in known.items()):
        raise StoreRefusal(Reason.REPORT_ID_REUSED)
    unknown = _without(request, known)
    if unknown.ids:
        await _insert(tx, number, [unknown])
    return Added(accepted=len(unknown.ids), repeated=len(known))


def _without(request: CheckedReports, known: Iterable[bytes]) -> CheckedReports:
    """Return the reports whose ids are not known; answers keep their place among all ids."""
    gone = frozenset(known)
    is_new = np.array([id_ not in gone for id_ in request.ids], dtype=np.bool_)
    answers = [
        Answers(
            question=answer.question,
            reports=answer.reports[is_new[answer.reports]],
            items=answer.items[is_new[answer.reports]],
        )
        for answer in request.answers
    ]
    return CheckedReports(
        ids=list(compress(request.ids, is_new)),
        tags=list(compress(request.tags, is_new)),
        answers=answers,
    )


async def _add_new(
    tx: Transaction, *, campaign_id: str, requests: Sequence[CheckedReports]
) -> None:
    number = await campaigns.require_state(tx, campaign_id, State.CLIENTS_OPEN)
    await _insert(tx, number, requests)


async def _insert(tx: Transaction, number: int, requests: Sequence[CheckedReports]) -> None:
    ids = list(chain.from_iterable(request.ids for request in requests))
    tags = list(chain.from_iterable(request.tags for request in requests))
    if await tx.insert_report_ids(number, ids, tags) != len(ids):
        raise _SomeKnownError
    tx.reach("after-ids")
    await _count(tx, number, [answer for request in requests for answer in request.answers])
    tx.reach("after-counters")


async def _count(tx: Transaction, number: int, answers: Sequence[Answers]) -> None:
    # No lock: a writer's counters are changed by one transaction at a time.
    found = await tx.rows(
        "SELECT questions.question, size, reports, counts FROM questions LEFT JOIN counters"
        " ON counters.campaign = questions.campaign AND counters.question = questions.question"
        " AND writer = $2 WHERE questions.campaign = $1",
        *(number, tx.writer),
    )
    before = {question: rest for question, *rest in found}
    for question in sorted({answer.question for answer in answers}):
        if question not in before:
            raise BrokenInvariantError("a report answers a question that nobody asked")
        size, reports, counts = before[question]
        own = [answer for answer in answers if answer.question == question]
        added = _named(own, size)
        total = added if counts is None else np.frombuffer(counts, dtype=_COUNT) + added
        await tx.run(
            "INSERT INTO counters (campaign, question, writer, reports, counts)"
            " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (campaign, question, writer)"
            " DO UPDATE SET reports = excluded.reports, counts = excluded.counts",
            *(number, question, tx.writer),
            (reports or 0) + sum(len(answer.reports) for answer in own),
            total.astype(_COUNT).tobytes(),
        )


def _named(answers: Sequence[Answers], size: int) -> IntArray:
    """Return how many reports name each item."""
    items = np.concatenate([answer.items.ravel() for answer in answers])
    counts = np.bincount(items, minlength=size)
    if len(counts) > size:
        raise BrokenInvariantError("a report names an item beyond the head list")
    return counts.astype(np.int64, copy=False)


async def totals(tx: Transaction, campaign_id: UUID) -> ReportCounts:
    """Return what all reports named, whoever wrote them down."""
    number = await campaigns.number_of(tx, campaign_id)
    cells, cell_reports = await _total(tx, number, "record")
    queries, query_reports = await _total(tx, number, "query")
    return ReportCounts(
        cells=cells, cell_reports=cell_reports, queries=queries, query_reports=query_reports
    )


async def _total(tx: Transaction, number: int, question: Question) -> tuple[IntArray, int]:
    sizes = await tx.rows(
        "SELECT size FROM questions WHERE campaign = $1 AND question = $2", number, question
    )
    found = await tx.rows(
        "SELECT reports, counts FROM counters WHERE campaign = $1 AND question = $2",
        *(number, question),
    )
    total = np.zeros(sizes[0][0] if sizes else 0, dtype=np.int64)
    for _, counts in found:
        total += np.frombuffer(counts, dtype=_COUNT)
    return total, sum(int(reports) for reports, _ in found)
