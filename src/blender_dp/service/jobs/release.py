"""Release job: computes the blended result from the counts, and from the relay's batch."""

import asyncio
from collections.abc import Mapping
from typing import Any

from blender_dp.core.blender import BlenderResult, finish
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.errors import BrokenPromiseError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts, ReportingClients
from blender_dp.service.campaign import Campaign, Move
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.failures import Failure, JobError
from blender_dp.service.jobs.relayed import relayed_side
from blender_dp.service.storage.store import Document, JobResult
from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.documents.times import written_time
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.estimates import client_document, opt_in_in
from blender_dp.wire.published.head_list import head_list_in
from blender_dp.wire.published.relay_estimates import Outcome, RelayedSide, relay_document
from blender_dp.wire.published.release import release_document
from blender_dp.wire.service.hash_chain import PublicKind

FEWEST_REPORTS = 2
_STORED = "the stored document"


async def make_release(dependencies: Dependencies, campaign: Campaign) -> JobResult:
    """Estimate from the reports, blend with the opt-in users' estimates, and certify."""
    published = await dependencies.store.document(campaign.id, Document.HEAD_LIST)
    estimates = await dependencies.store.document(campaign.id, Document.OPT_IN_ESTIMATES)
    counts = await dependencies.store.report_counts(campaign.id)
    if published is None or estimates is None:
        raise JobError(Failure.TOO_FEW_REPORTS)
    head_list = head_list_in(_STORED, read_object(_STORED, published)["head_list"])
    relayed = await relayed_side(dependencies, campaign, head_list)
    if not _are_enough(counts, relayed):
        raise JobError(Failure.TOO_FEW_REPORTS)
    return await asyncio.to_thread(
        _make_release,
        head_list,
        read_object(_STORED, estimates),
        counts,
        relayed,
        created=written_time(dependencies.now()),
        names=campaign.nouns,
    )


def _are_enough(counts: ReportCounts, relayed: RelayedSide | None) -> bool:
    """Tell whether records can be estimated: some client must have reported a whole record.

    If the relay's batch is used, there need not be other clients. Few of them do not prevent it:
    anybody may send a report.
    """
    if relayed is not None and relayed.counted:
        return True
    reports = counts.cell_reports + counts.query_reports
    return counts.cell_reports > 0 and reports >= FEWEST_REPORTS


def _make_release(
    head_list: HeadList,
    estimates: dict[str, Any],
    counts: ReportCounts,
    relayed: RelayedSide | None,
    **made: Any,  # noqa: ANN401 - when, and what queries are called
) -> JobResult:
    curated = opt_in_in(_STORED, estimates, head_list).estimate()
    clients = ReportingClients(
        counts=counts, records_per_client=curated.parameters.records_per_client
    )
    through_relay = None if relayed is None else relayed.clients(head_list)
    result = finish(curated, clients, relayed=through_relay)
    return _make_result(result, counts, relayed, **made)


def _make_result(
    result: BlenderResult,
    counts: ReportCounts,
    relayed: RelayedSide | None,
    *,
    created: str,
    names: Mapping[str, str | None] | None,
) -> JobResult:
    try:
        is_small = relayed is not None and relayed.outcome is Outcome.TOO_FEW
        certificate = require_kept(certify_curated(result.curated, has_small_batch=is_small))
    except BrokenPromiseError:
        raise JobError(Failure.PROMISE_BROKEN) from None
    certified = certificate_document(certificate)
    batch = None if relayed is None else relayed.summary()
    document = release_document(result, certified, created=created, names=names, relay_batch=batch)
    release = canonical(document)
    return JobResult(
        move=Move.RELEASE,
        documents={
            Document.CLIENT_ESTIMATES: canonical(client_document(result.head_list, counts)),
            Document.CERTIFICATE: canonical(certified),
            Document.RELEASE: release,
            **_relay_documents(result, relayed),
        },
        log_entries=[{"kind": PublicKind.RELEASE, "digest": digest_of_bytes(release)}],
        counter_sizes={},
        relayed_counted=None if relayed is None else relayed.counted,
    )


def _relay_documents(result: BlenderResult, relayed: RelayedSide | None) -> dict[Document, bytes]:
    if relayed is None:
        return {}
    return {Document.RELAY_ESTIMATES: canonical(relay_document(result.head_list, relayed))}
