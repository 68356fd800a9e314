"""Batches of relays: taken in pieces under the relay's signature, kept until the release."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import msgspec
from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from msgspec import UNSET, Meta, UnsetType

from blender_dp.core.errors import InputError
from blender_dp.server.problems import Problem
from blender_dp.service.campaign import Campaign, State
from blender_dp.service.campaign_relay import MOST_BATCH, CampaignRelay
from blender_dp.service.http.messages import Taken
from blender_dp.service.http.reports.intake import MOST_BATCH_BYTES
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.refusals import WITH_BODY, refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import BatchState, RelayedBatch
from blender_dp.wire.relayed.batch import (
    BatchPiece,
    Forwarded,
    SignedStatement,
    read_piece,
    read_statement,
)
from blender_dp.wire.reports.service_report import MOST_REPORTS
from blender_dp.wire.service.signatures import SignatureError

_PATH = ONE + "/relayed-reports"
_Read = TypeVar("_Read", BatchPiece, SignedStatement)
Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]


class RelayStatement(Taken, frozen=True, kw_only=True):
    """What a relay did with all reports of a campaign: passed on as one batch, or destroyed."""

    campaign: UUID
    head_list: Digest
    count: Annotated[int, Meta(ge=0, le=MOST_BATCH)]
    pieces: Annotated[int, Meta(ge=1, le=MOST_BATCH)] | UnsetType = UNSET
    digest: Digest | UnsetType = UNSET
    """SHA-256 of all encrypted reports, one after the other in the order sent."""
    destroyed: Literal[True] | UnsetType = UNSET


class SentPiece(Taken, frozen=True, kw_only=True):
    """A relay's signed statement with one piece of its batch, or alone if there is no batch."""

    version: Literal[1]
    statement: RelayStatement
    public_key: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{43}$")]
    signature: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{86}$")]
    """Ed25519 over 'blender-dp relay statement 1', a zero byte and the canonical statement."""
    piece: Annotated[int, Meta(ge=0, lt=MOST_BATCH)] | UnsetType = UNSET
    reports: Annotated[list[str], Meta(min_length=1, max_length=MOST_REPORTS)] | UnsetType = UNSET
    """Encrypted reports, base64url without padding."""


class ShownBatch(msgspec.Struct, frozen=True, kw_only=True):
    """What the collector has of a relay's batch; public."""

    state: Literal["waiting", "complete", "destroyed", "absent", "counted"]
    complete: bool
    """Whether the relay may delete its reports."""
    count: int | None
    """Number of reports by the relay's statement; null while there is none."""
    counted: int | None
    """Number of reports that the release counts; null before the release."""
    pieces_received: list[int]
    statement: dict[str, Any] | None
    """The relay's statement with its signature; the public log has the digest of the statement."""

    @classmethod
    def of(cls, batch: RelayedBatch | None, state: State) -> "ShownBatch":
        """Return how the batch of a campaign in this state is shown."""
        if batch is None:
            batch = RelayedBatch(state=BatchState.WAITING, signed=None, pieces=[], counted=None)
        return cls(
            state=_shown_state(batch, state),
            complete=batch.state is BatchState.COMPLETE,
            count=batch.stated,
            counted=batch.counted,
            pieces_received=list(batch.pieces),
            statement=None if batch.signed is None else dict(batch.signed),
        )


def _shown_state(
    batch: RelayedBatch, state: State
) -> Literal["waiting", "complete", "destroyed", "absent", "counted"]:
    if batch.state is BatchState.COMPLETE and batch.counted:
        return "counted"
    if batch.state is BatchState.WAITING and state in (State.RELEASED, State.PURGED):
        return "absent"
    return batch.state.value


@post(
    _PATH,
    operation_id="send_relayed_reports",
    status_code=202,
    tags=["relay"],
    most_bytes=MOST_BATCH_BYTES,
    responses=refusals(
        *(*WITH_BODY, Problem.UNKNOWN_CAMPAIGN, Problem.NO_RELAY, Problem.NOT_COLLECTING),
        *(Problem.ANOTHER_RELAY, Problem.ANOTHER_HEAD_LIST, Problem.BATCH_REFUSED),
        *(Problem.BATCH_CHANGED, Problem.BATCH_DIGEST_WRONG),
    ),
)
async def send_relayed_reports(
    campaign_id: FromPath[UUID],
    data: JSONBody[SentPiece],
    service: NamedDependency[ServiceState],
) -> ShownBatch:
    """Take one piece of a relay's batch, or its statement that it destroyed all reports.

    Answered when it is on disk. The same piece again is answered alike. When the last piece is
    there, the digest of the whole batch is checked; only `complete` allows the relay to delete it.
    """
    campaign, relay = await _relay_campaign(service, campaign_id)
    document: dict[str, Any] = msgspec.to_builtins(data)
    store, now = service.dependencies.store, service.dependencies.now()
    signed = {name: document[name] for name in ("version", "statement", "public_key", "signature")}
    encryption = await service.lists.encryption(campaign_id)
    if document["statement"]["head_list"] != encryption.digest:
        raise Problem.ANOTHER_HEAD_LIST.error()
    if "destroyed" in document["statement"]:
        _check(read_statement, document, campaign, relay)
        batch = await store.add_destroyed_batch(campaign_id, signed, now=now)
        return ShownBatch.of(batch, campaign.state)
    piece = await asyncio.to_thread(
        _check, partial(read_piece, report_length=encryption.length), document, campaign, relay
    )
    batch = await store.add_relayed_piece(
        campaign_id, signed, piece=piece.piece, encrypted=piece.encrypted
    )
    if batch.state is BatchState.WAITING and len(batch.pieces) == piece.statement.pieces:
        await _settle(service, campaign_id, signed, piece.statement)
    return ShownBatch.of(await store.relayed_batch(campaign_id), campaign.state)


@get(
    _PATH,
    operation_id="read_relayed_reports",
    tags=["relay"],
    responses=refusals(Problem.UNKNOWN_CAMPAIGN, Problem.NO_RELAY),
)
async def read_relayed_reports(
    campaign_id: FromPath[UUID], service: NamedDependency[ServiceState]
) -> ShownBatch:
    """Return what the collector has of the relay's batch, with the relay's signed statement."""
    campaign, _ = await _relay_campaign(service, campaign_id)
    batch = await service.dependencies.store.relayed_batch(campaign_id)
    return ShownBatch.of(batch, campaign.state)


async def _relay_campaign(
    service: ServiceState, campaign_id: UUID
) -> tuple[Campaign, CampaignRelay]:
    campaign = await service.dependencies.store.campaign(campaign_id)
    if campaign.relay is None:
        raise Problem.NO_RELAY.error()
    return campaign, campaign.relay


def _check(
    read: Callable[[Mapping[str, Any]], _Read],
    document: Mapping[str, Any],
    campaign: Campaign,
    relay: CampaignRelay,
) -> _Read:
    """Return what a relay sent if it is about this campaign and signed by its relay."""
    try:
        found = read(document)
    except SignatureError:
        raise Problem.ANOTHER_RELAY.error() from None
    except InputError:
        raise Problem.BATCH_REFUSED.error() from None
    if found.public_key != relay.public_key:
        raise Problem.ANOTHER_RELAY.error()
    if found.statement.campaign != campaign.id:
        raise Problem.BATCH_REFUSED.error(where="campaign")
    if isinstance(found, BatchPiece) and found.statement.count < relay.least_batch:
        raise Problem.BATCH_REFUSED.error(where="count")
    return found


async def _settle(
    service: ServiceState, campaign_id: UUID, signed: Mapping[str, Any], statement: Forwarded
) -> None:
    """Acknowledge a batch that is all there, or drop it if its digest is not the stated one."""
    store = service.dependencies.store
    digest = hashlib.sha256()
    for piece in range(statement.pieces):
        digest.update(await store.relayed_piece(campaign_id, piece))
    is_right = f"sha256:{digest.hexdigest()}" == statement.digest
    await store.settle_relayed_batch(
        campaign_id, signed, is_right=is_right, now=service.dependencies.now()
    )
    if not is_right:
        raise Problem.BATCH_DIGEST_WRONG.error()
