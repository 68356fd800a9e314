"""Campaigns, contributions and reports for tests of the service's storage."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np

from blender_dp.core.channels.report import Question
from blender_dp.core.parameters import Parameters
from blender_dp.service.campaign import Campaign, Consent, JobKind, Move, Reports, Rules, State
from blender_dp.service.http.reports.checked_reports import CheckedReports
from blender_dp.service.jobs.leases import Lease
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Contribution, Document, JobResult
from blender_dp.wire.reports.service_report import NamedItems

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
CELLS, QUERIES = 7, 3
POINTS = (
    "before-begin",
    "after-ids",
    "after-counters",
    "before-commit",
    "after-commit",
    "before-answer",
)
"""Where a store lets a kill test end it, in the order of a write."""
BY_OPERATORS = {
    Move.OPEN_OPT_IN: (State.DRAFT, State.OPT_IN_OPEN),
    Move.SEAL_OPT_IN: (State.OPT_IN_OPEN, State.OPT_IN_SEALED),
    Move.OPEN_CLIENTS: (State.LIST_PUBLISHED, State.CLIENTS_OPEN),
    Move.SEAL_CLIENTS: (State.CLIENTS_OPEN, State.CLIENTS_SEALED),
}
"""What operators may do before they purge: from where to where."""


def a_campaign(
    name: str = "searches", rules: Rules | None = None, reports: Reports = Reports.OPEN
) -> Campaign:
    return Campaign(
        id=uuid4(),
        name=name,
        purpose="find what is popular",
        controller="A town library",
        contact="privacy@library.example",
        privacy_policy="https://library.example/privacy",
        consent=Consent(version="1", text="I agree · ja, gerne"),
        parameters=Parameters(epsilon=4.0, delta=1e-5, head_list_size=50),
        expected_clients=1000,
        reports=reports,
        open_enrolment=True,
        rules=rules or Rules(opt_in_until=LATER, clients_enough=10),
        state=State.DRAFT,
        created_at=NOW,
        moved_at=NOW,
    )


def a_contribution(enrolment: bytes, content: bytes = b"encrypted") -> Contribution:
    return Contribution(
        enrolment=enrolment,
        encrypted=content,
        tag=content[:16].ljust(16, b"\0"),
        consent_version="1",
        consent_digest="sha256:" + "0" * 64,
        consent_given_at=NOW - timedelta(days=1),
    )


def report_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def some_reports(
    numbers: Sequence[int],
    *,
    cells: Sequence[int] = (),
    tag: bytes = b"the same",
    question: Question = "record",
) -> CheckedReports:
    """Return a report a number, each naming one item: its number modulo 3 unless told."""
    named = [[cell] for cell in cells or [number % 3 for number in numbers]]
    return CheckedReports(
        ids=b"".join(map(report_id, numbers)),
        tags=tag * len(numbers),
        answers=[
            NamedItems(
                question=question,
                reports=np.arange(len(numbers)),
                items=np.array(named, dtype=np.int64).reshape(len(numbers), -1),
            )
        ],
    )


async def opened_for_opt_in(store: DatabaseStore, reports: Reports = Reports.OPEN) -> UUID:
    campaign = a_campaign(reports=reports)
    await store.put_campaign(campaign, actor="ada")
    await moved(store, campaign.id, Move.OPEN_OPT_IN, State.DRAFT)
    return campaign.id


async def moved(store: DatabaseStore, campaign: UUID, move: Move, origin: State) -> Campaign:
    return await store.move(campaign, move, origin=origin, actor="ada", now=NOW)


async def leased(store: DatabaseStore, kind: JobKind) -> Lease:
    lease = await store.lease_job("worker")
    assert lease is not None
    assert lease.job.kind is kind
    return lease


def a_list() -> JobResult:
    return JobResult(
        move=Move.PUBLISH_LIST,
        documents={
            Document.HEAD_LIST: lambda entries: f"signed {entries[0]['hash']}".encode(),
            Document.OPT_IN_ESTIMATES: b"{}",
        },
        log_entries=[{"kind": "head-list", "digest": "sha256:" + "1" * 64}],
        counter_sizes={"record": CELLS, "query": QUERIES},
    )


def a_release() -> JobResult:
    return JobResult(
        move=Move.RELEASE,
        documents={Document.RELEASE: b"released"},
        log_entries=[{"kind": "release", "digest": "sha256:" + "2" * 64}],
        counter_sizes={},
    )


def erased() -> JobResult:
    return JobResult(move=None, documents={}, log_entries=[], counter_sizes={})


async def publish_list(store: DatabaseStore, campaign: UUID) -> None:
    """Take a campaign that is open for opt-in users to its list, and erase what is left."""
    await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    await store.finish(await leased(store, JobKind.HEAD_LIST), a_list(), now=NOW)
    await store.finish(await leased(store, JobKind.ERASE), erased(), now=NOW)


async def opened_for_clients(store: DatabaseStore, reports: Reports = Reports.OPEN) -> UUID:
    campaign = await opened_for_opt_in(store, reports)
    await publish_list(store, campaign)
    await moved(store, campaign, Move.OPEN_CLIENTS, State.LIST_PUBLISHED)
    return campaign
