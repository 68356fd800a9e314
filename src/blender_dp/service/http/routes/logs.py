"""The two append-only logs."""

from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from blender_dp.server.problems import Problem
from blender_dp.service.http.messages import SignedLog
from blender_dp.service.http.routes.asking import auditor
from blender_dp.service.http.routes.refusals import WITH_TOKEN, refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Chain, Token
from blender_dp.wire.service.signed_log import log_document

_MOST_ENTRIES = 10_000
Start = Annotated[
    int,
    QueryParameter(
        name="from", ge=0, le=2**53, description="First index, at most the log's length."
    ),
]


@get("/v1/log", operation_id="read_log", tags=["logs"], responses=refusals(Problem.KEYS_GONE))
async def read_log(service: NamedDependency[ServiceState], start: Start = 0) -> SignedLog:
    """Return the public log: what was published when, hash-chained and signed."""
    return await _sign_log(service, Chain.PUBLIC, start)


@get(
    "/v1/audit-log",
    operation_id="read_audit_log",
    **auditor,
    tags=["logs"],
    responses=refusals(*WITH_TOKEN, Problem.KEYS_GONE),
)
async def read_audit_log(
    actor: NamedDependency[Token],  # noqa: ARG001 - admits
    service: NamedDependency[ServiceState],
    start: Start = 0,
) -> SignedLog:
    """Return the audit log: who did what, hash-chained and signed."""
    return await _sign_log(service, Chain.AUDIT, start)


async def _sign_log(service: ServiceState, chain: Chain, start: int) -> SignedLog:
    store, last = service.dependencies.store, None
    entries = await store.log_entries(chain, start=start, limit=_MOST_ENTRIES)
    if not entries and start > 0:
        found = await store.log_entries(chain, start=start - 1, limit=1)
        if not found:
            raise Problem.REQUEST_NOT_UNDERSTOOD.error(where="from")
        last = found[0]
    return SignedLog(**log_document(entries, service.dependencies.keys.signing_key(), last))
