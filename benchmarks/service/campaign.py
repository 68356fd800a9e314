"""A campaign that takes reports against a list of five hundred queries, and reports for it."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from end_to_end.kills.books import Books

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.service.campaign import Move, Reports, Rules, State
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Document, JobResult
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from campaign_stores import a_campaign

QUERIES = 500
MECHANISMS: Mapping[str, Mechanism] = {
    "sharp": SubsetSelectionMechanism(epsilon=4.0, query_share=0.2),
    "paper": LocalAlgMechanism(
        epsilon=4.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
    ),
}


def head_list(preset: str) -> HeadList:
    """Return a list on which each query has one or two URLs."""
    records = [Record(f"query {q}", f"url {u}") for q in range(QUERIES) for u in range(1 + q % 2)]
    return HeadList.of(records, mechanism=MECHANISMS[preset], private=True)


def collecting(
    directory: Path, database: str, published: HeadList, reports: Reports = Reports.OPEN
) -> UUID:
    """Make a campaign with this list, open to clients."""
    return asyncio.run(_collecting(directory, database, published, reports))


async def _collecting(
    directory: Path, database: str, published: HeadList, reports: Reports
) -> UUID:
    store = await open_store(database)
    try:
        campaign = a_campaign(rules=Rules(), reports=reports)
        now = datetime.now(UTC)
        await store.put_campaign(campaign, actor="bench")
        await _moved(store, campaign.id, Move.OPEN_OPT_IN, State.DRAFT)
        await _moved(store, campaign.id, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
        lease = await store.lease_job("bench")
        assert lease is not None
        keys = KeyVault(directory / "keys")
        await store.finish(lease, _published(published, campaign.id, keys), now=now)
        await _moved(store, campaign.id, Move.OPEN_CLIENTS, State.LIST_PUBLISHED)
        return campaign.id
    finally:
        await store.close()


async def _moved(store: DatabaseStore, campaign: UUID, move: Move, origin: State) -> None:
    await store.move(campaign, move, origin=origin, actor="bench", now=datetime.now(UTC))


def _published(published: HeadList, campaign: UUID, keys: KeyVault) -> JobResult:
    document = head_list_document(published)

    def signed(entries: Sequence[Mapping[str, Any]]) -> bytes:
        key = keys.signing_key()
        return canonical(
            signed_head_list_document(
                document, entries[0], campaign=campaign, description="sha256:" + "0" * 64, key=key
            )
        )

    cells = published.cells
    return JobResult(
        move=Move.PUBLISH_LIST,
        documents={Document.HEAD_LIST: signed},
        log_entries=[{"kind": "head-list", "digest": document["digest"]}],
        counter_sizes={"record": cells.cell_count, "query": cells.query_count},
    )


def write_bodies(path: Path, published: HeadList, *, requests: int, reports_each: int) -> None:
    """Write requests, one per line, no report twice."""
    books = Books(published)
    with path.open("wb") as file:
        for _ in range(requests):
            file.write(books.upload(reports_each).body + b"\n")


def reports_kept(database: str, campaign: UUID) -> int:
    """Return how many reports a store counted, by what it has on disk."""
    return asyncio.run(_reports_kept(database, campaign))


async def _reports_kept(database: str, campaign: UUID) -> int:
    store = await open_store(database)
    try:
        counts = await store.report_counts(campaign)
        return counts.cell_reports + counts.query_reports
    finally:
        await store.close()
