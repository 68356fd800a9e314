"""SQL of reports: ids, so that each counts once, and counters of the named items.

Waiting requests are counted together, in a few statements whatever their number. Requests with an
id that came before are counted one by one, each completely or not at all.
"""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import compress, islice
from uuid import UUID

import numpy as np

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.population import ReportCounts
from blender_dp.server.databases.statements import Row
from blender_dp.service.campaign import State
from blender_dp.service.http.reports.checked_reports import (
    TAG_BYTES,
    Added,
    CheckedReports,
    Outcome,
)
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Reason, StoreRefusal
from blender_dp.service.storage.tables import campaigns
from blender_dp.wire.reports.packed_items import ByteArray, pieces
from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems

_ACCEPTED = Added(accepted=1, repeated=0)
_FIRST = np.zeros(1, dtype=np.int64)
"""The position of a report that is alone."""
_COUNT = np.dtype("<i8")
_TRIES = 5
"""Most attempts; each one sees the ids of one more faster writer."""


class _SomeKnownError(Exception):
    """Not all ids are new."""


async def add_together(
    tx: Transaction, campaign_id: str, given: Sequence[CheckedReports]
) -> Sequence[Outcome | Sequence[Outcome]]:
    """Count the reports of several requests to one campaign, each independent of the others.

    Returns:
        The outcome of each request; for single reports that were checked together, one for each.
    """
    try:
        number = await campaigns.require_state(tx, campaign_id, State.CLIENTS_OPEN)
    except StoreRefusal as refusal:
        return [StoreRefusal(refusal.reason) for _ in given]
    if await _are_added(tx, number, given):
        return [_accept_all(request) for request in given]
    outcomes = iter(await _add_each(tx, number, [part for one in given for part in _parts(one)]))
    return [
        list(islice(outcomes, len(request))) if request.are_singles else next(outcomes)
        for request in given
    ]


def _parts(request: CheckedReports) -> Sequence[CheckedReports]:
    """Return the requests whose reports are counted all or none."""
    if not request.are_singles:
        return [request]
    named = {
        place: NamedItems(
            question=answer.question, reports=_FIRST, items=answer.items[row : row + 1]
        )
        for answer in request.answers
        for row, place in enumerate(answer.reports.tolist())
    }
    ids, tags = pieces(request.ids, ID_BYTES), pieces(request.tags, TAG_BYTES)
    return [
        CheckedReports(ids=id_, tags=tag, answers=[named[place]])
        for place, (id_, tag) in enumerate(zip(ids, tags, strict=True))
    ]


async def _add_each(
    tx: Transaction, number: int, requests: Sequence[CheckedReports]
) -> Sequence[Outcome]:
    """Count requests of which some may have ids that came before."""
    repeated = await _repeated_ids(tx, number, requests)
    are_new = [repeated.isdisjoint(pieces(request.ids, ID_BYTES)) for request in requests]
    if not await _are_added(tx, number, list(compress(requests, are_new))):
        are_new = [False for _ in requests]  # another writer was faster
    return [
        Added(accepted=len(request), repeated=0) if is_new else await _outcome(tx, number, request)
        for request, is_new in zip(requests, are_new, strict=True)
    ]


def _accept_all(request: CheckedReports) -> Added | Sequence[Added]:
    if request.are_singles:
        return [_ACCEPTED] * len(request)
    return Added(accepted=len(request), repeated=0)


async def _are_added(tx: Transaction, number: int, requests: Sequence[CheckedReports]) -> bool:
    """Count all requests if all their ids are new, otherwise none."""
    try:
        await tx.attempt(partial(_insert, number=number, requests=requests))
    except (_SomeKnownError, BrokenInvariantError):
        return False
    return True


async def _repeated_ids(
    tx: Transaction, number: int, requests: Sequence[CheckedReports]
) -> AbstractSet[bytes]:
    """Return the ids that are stored already or appear in several of the requests."""
    together = b"".join(request.ids for request in requests)
    times = Counter(pieces(together, ID_BYTES))
    known = await tx.known_tags(number, together)
    return known.keys() | {id_ for id_, count in times.items() if count > 1}


async def _outcome(tx: Transaction, number: int, request: CheckedReports) -> Outcome:
    try:
        return await _add_alone(tx, number, request)
    except (StoreRefusal, BrokenInvariantError) as refusal:
        return refusal


async def _add_alone(tx: Transaction, number: int, request: CheckedReports) -> Added:
    for _ in range(_TRIES):
        try:
            return await tx.attempt(partial(_add_unknown, number=number, request=request))
        except _SomeKnownError:
            continue
    raise StoreRefusal(Reason.OVERLOADED)


async def _add_unknown(tx: Transaction, *, number: int, request: CheckedReports) -> Added:
    known = await tx.known_tags(number, request.ids)
    given = dict(zip(pieces(request.ids, ID_BYTES), pieces(request.tags, TAG_BYTES), strict=True))
    if len(given) != len(request) or any(given[id_] != tag for id_, tag in known.items()):
        raise StoreRefusal(Reason.REPORT_ID_REUSED)
    is_new = np.array([id_ not in known for id_ in given], dtype=np.bool_)
    unknown = _only(request, is_new)
    if len(unknown):
        await _insert(tx, number=number, requests=[unknown])
    return Added(accepted=len(unknown), repeated=len(known))


def _only(request: CheckedReports, is_new: BoolArray) -> CheckedReports:
    """Return some of a request's reports; answers keep their positions."""
    answers = [
        NamedItems(
            question=answer.question,
            reports=answer.reports[is_new[answer.reports]],
            items=answer.items[is_new[answer.reports]],
        )
        for answer in request.answers
    ]
    return CheckedReports(
        ids=_rows(request.ids, ID_BYTES)[is_new].tobytes(),
        tags=_rows(request.tags, TAG_BYTES)[is_new].tobytes(),
        answers=answers,
    )


async def _insert(tx: Transaction, *, number: int, requests: Sequence[CheckedReports]) -> None:
    rows = _rows_in_order(requests)
    if await tx.insert_report_ids(number, rows) != len(rows):
        raise _SomeKnownError
    tx.reach("after-ids")
    await _count(tx, number, [answer for request in requests for answer in request.answers])
    tx.reach("after-counters")


def _rows_in_order(requests: Sequence[CheckedReports]) -> ByteArray:
    """Return ids with their tags, in the order of the ids.

    Sorted ids fall on the same pages of the tree, and two writers of the same ids do not block each
    other.
    """
    ids = _rows(b"".join(request.ids for request in requests), ID_BYTES)
    tags = _rows(b"".join(request.tags for request in requests), TAG_BYTES)
    first_words, second_words = ids.view(">u8").T
    return np.hstack([ids, tags])[np.lexsort((second_words, first_words))]


def _rows(packed: bytes, length: int) -> ByteArray:
    return np.frombuffer(packed, dtype=np.uint8).reshape(-1, length)


async def _count(tx: Transaction, number: int, answers: Sequence[NamedItems]) -> None:
    # No lock: a writer's counters are changed by one transaction at a time.
    found = await tx.rows(
        "SELECT questions.question, size, reports, counts FROM questions LEFT JOIN counters"
        " ON counters.campaign = questions.campaign AND counters.question = questions.question"
        " AND writer = $2 WHERE questions.campaign = $1",
        *(number, tx.writer),
    )
    before = {question: rest for question, *rest in found}
    rows: list[Row] = []
    for question in sorted({answer.question for answer in answers}):
        if question not in before:
            raise BrokenInvariantError("a report answers another question than its list asks")
        size, reports, counts = before[question]
        own = [answer for answer in answers if answer.question == question]
        added = _count_items(own, size)
        total = added if counts is None else np.frombuffer(counts, dtype=_COUNT) + added
        answered = (reports or 0) + sum(len(answer.reports) for answer in own)
        rows.append((number, question, tx.writer, answered, total.astype(_COUNT).tobytes()))
    await tx.run_many(
        "INSERT INTO counters (campaign, question, writer, reports, counts)"
        " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (campaign, question, writer)"
        " DO UPDATE SET reports = excluded.reports, counts = excluded.counts",
        rows,
    )


def _count_items(answers: Sequence[NamedItems], size: int) -> IntArray:
    """Return how many reports name each item."""
    items = np.concatenate([answer.items.ravel() for answer in answers])
    counts = np.bincount(items, minlength=size)
    if len(counts) > size:
        raise BrokenInvariantError("a report names an item beyond the head list")
    return counts.astype(np.int64, copy=False)


async def known_ids(tx: Transaction, campaign_id: UUID, ids: bytes) -> AbstractSet[bytes]:
    """Return which of these ids are stored."""
    number = await campaigns.number_of(tx, campaign_id)
    return set(await tx.known_tags(number, ids))


async def totals(tx: Transaction, campaign_id: UUID) -> ReportCounts:
    """Return how often the reports named each item, summed over all writers."""
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
