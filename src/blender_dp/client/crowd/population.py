"""Population of simulated devices that takes part in a campaign of a running service."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from blender_dp.client.campaign_checks import fetch_list, read_public_log
from blender_dp.client.crowd.crowd import Crowd, gather_crowd, run_concurrently
from blender_dp.client.crowd.many_reports import relayed_bodies, report_bodies
from blender_dp.client.crowd.many_tokens import token_requests
from blender_dp.client.crowd.people import People, cells_of
from blender_dp.client.operator import STATES, Operator
from blender_dp.client.policy import ClientPolicy, History
from blender_dp.client.reports.relay_rules import require_relay
from blender_dp.core.errors import BlenderError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.service.contribution import ConsentReceipt, Contribution, contribution_document
from blender_dp.wire.service.signed_head_list import SignedHeadList
from blender_dp.wire.tokens.report_token import token_rules

Step = Callable[[str], None]
Share = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Service, campaign and settings of a simulated population."""

    url: str
    campaign: UUID
    operator: Operator
    drives: bool
    """Whether the simulation also makes the operator's moves."""
    batch: int
    connections: int
    patience: float
    """Longest wait for a state, in seconds."""
    step: Step
    share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Numbers of contributions and reports of a simulation, and the campaign's state."""

    contributed: int
    relayed: int
    """Reports that the relay took in this run."""
    reported: int
    accepted: int
    """Reports of local clients that the service counted in this run."""
    state: str


def play(people: People, stage: Stage, randomness: Randomness) -> Played:
    """Simulate all people, and wait for the campaign's states in between.

    Opt-in users do nothing if the opt-in side is closed; clients do nothing if theirs is.
    """
    operator, campaign = stage.operator, stage.campaign
    _advance(stage, "draft", "open-opt-in")
    stage.step("wait for the opt-in side to open")
    operator.wait_for(campaign, "opt-in-open", seconds=stage.patience)
    contributed = 0
    if operator.place(campaign) == STATES.index("opt-in-open"):
        contributed = contribute(people.opt_in, stage)
    _advance(stage, "opt-in-open", "seal-opt-in")
    stage.step("wait for the head list")
    operator.wait_for(campaign, "list-published", seconds=stage.patience)
    _advance(stage, "list-published", "open-clients")
    stage.step("wait for the clients' side to open")
    operator.wait_for(campaign, "clients-open", seconds=stage.patience)
    relayed = reported = accepted = 0
    if operator.place(campaign) == STATES.index("clients-open"):
        signed = _fetch_list(stage)
        tokens = _fetch_tokens(len(people.relayed) + len(people.clients), stage, signed)
        through = None if tokens is None else tokens[: len(people.relayed)]
        relayed = _report_through_relay(people, stage, signed, randomness, through)
        direct = None if tokens is None else tokens[len(people.relayed) :]
        reported, accepted = _report(people, stage, signed.head_list, randomness, direct)
    _advance(stage, "clients-open", "seal-clients")
    if stage.drives:
        stage.step("wait for the release")
        operator.wait_for(campaign, "released", seconds=stage.patience)
    return Played(
        contributed=contributed,
        relayed=relayed,
        reported=reported,
        accepted=accepted,
        state=STATES[operator.place(campaign)],
    )


def _advance(stage: Stage, origin: str, move: str) -> None:
    operator, campaign = stage.operator, stage.campaign
    if stage.drives and operator.place(campaign) == STATES.index(origin):
        operator.move(campaign, move, origin=origin)


def contribute(users: Sequence[Sequence[Record]], stage: Stage) -> int:
    """Let people enrol, by the operator or by themselves, and contribute their records."""
    stage.step("opt-in users contribute")
    asked = stage.operator.read(stage.campaign)["consent"]
    consent = ConsentReceipt(
        version=asked["version"], text_digest=asked["text_digest"], given_at=datetime.now(UTC)
    )
    tokens: Sequence[str | None] = [None] * len(users)
    if stage.operator.token is not None:
        tokens = stage.operator.enrolment_tokens(stage.campaign, len(users))

    async def one(crowd: Crowd, token: str | None, records: Sequence[Record]) -> int:
        if token is None:
            enrolled = await crowd.send("POST", f"campaigns/{stage.campaign}/enrol", body=b"{}")
            token = enrolled.document("the enrolment")["token"]
        document = contribution_document(Contribution(consent=consent, records=records))
        path = f"campaigns/{stage.campaign}/opt-in"
        await crowd.send("POST", path, body=canonical(document), token=token)
        return 1

    def works(crowd: Crowd) -> Iterator[Callable[[], Awaitable[int]]]:
        for token, records in zip(tokens, users, strict=True):
            yield partial(one, crowd, token, records)

    return _run_together(stage, works, len(users))


def _fetch_tokens(count: int, stage: Stage, signed: SignedHeadList) -> list[bytes] | None:
    """Let every client fetch its token; None if reports need none."""
    rules = token_rules(signed.head_list, stage.campaign)
    if rules is None:
        return None
    if stage.operator.token is None:
        raise BlenderError("reports to the campaign need tokens: give --operator-token-file")
    stage.step("clients fetch their tokens")
    enrolments = stage.operator.enrolment_tokens(stage.campaign, count)
    tokens: list[bytes] = []

    def works(crowd: Crowd) -> Iterator[Callable[[], Awaitable[int]]]:
        return token_requests(crowd, enrolments, rules, tokens.append)

    _run_together(stage, works, count)
    return tokens


def _report_through_relay(
    people: People,
    stage: Stage,
    signed: SignedHeadList,
    randomness: Randomness,
    tokens: Sequence[bytes] | None,
) -> int:
    """Let relay clients send their encrypted reports to the relay that the list names."""
    if not people.relayed:
        return 0
    stage.step("relay clients report")
    relay, path = require_relay(signed), f"campaigns/{stage.campaign}/reports"
    cells = cells_of(people.relayed, signed.head_list)

    async def one(crowd: Crowd, count: int, body: bytes) -> int:
        await crowd.send("POST", path, body=body)
        return count

    def works(crowd: Crowd) -> Iterator[Callable[[], Awaitable[int]]]:
        batches = relayed_bodies(cells, signed, randomness, batch=stage.batch, tokens=tokens)
        for count, body in batches:
            yield partial(one, crowd, count, body)

    return _run_together(replace(stage, url=relay.address), works, len(cells))


def _report(
    people: People,
    stage: Stage,
    head_list: HeadList,
    randomness: Randomness,
    tokens: Sequence[bytes] | None,
) -> tuple[int, int]:
    stage.step("clients report")
    cells, path = cells_of(people.clients, head_list), f"campaigns/{stage.campaign}/reports"
    accepted = 0

    async def one(crowd: Crowd, count: int, body: bytes) -> int:
        nonlocal accepted
        answer = await crowd.send("POST", path, body=body)
        accepted += int(answer.document("the answer")["accepted"])
        return count

    def works(crowd: Crowd) -> Iterator[Callable[[], Awaitable[int]]]:
        batches = report_bodies(cells, head_list, randomness, batch=stage.batch, tokens=tokens)
        for count, body in batches:
            yield partial(one, crowd, count, body)

    return _run_together(stage, works, len(cells)), accepted


def _fetch_list(stage: Stage) -> SignedHeadList:
    """Fetch the list and check it as devices do, except budgets: simulated devices have none."""
    transport = stage.operator.transport
    fetched = fetch_list(transport, stage.campaign)
    fetched.require(stage.campaign, ClientPolicy(smallest_list=1), History(public_key=None))
    read_public_log(transport, fetched.signed, remembered=None)
    return fetched.signed


def _run_together(
    stage: Stage, works: Callable[[Crowd], Iterator[Callable[[], Awaitable[int]]]], total: int
) -> int:
    def done(count: int) -> None:
        stage.share(count / total)

    async def run_all() -> int:
        async with gather_crowd(stage.url, connections=stage.connections) as crowd:
            return await run_concurrently(works(crowd), at_once=stage.connections, done=done)

    return _run(run_all())


def _run(work: Any) -> int:  # noqa: ANN401 - a coroutine
    """Run to the end; of several failures raise the first."""
    try:
        return int(asyncio.run(work))
    except ExceptionGroup as failures:
        raise _first(failures) from None


def _first(failure: BaseException) -> BaseException:
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
