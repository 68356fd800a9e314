"""A whole service over a real SQLite store in a temporary directory, driven as HTTP drives it."""

import asyncio
import io
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from blender_dp.cli.released_report import render_released
from blender_dp.core.channels.report import Question
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.server.event_log import EventLog
from blender_dp.service.app import create_app
from blender_dp.service.dependencies import Dependencies, Limits, Predict
from blender_dp.service.http.access import Rate, Role, new_token, token_digest
from blender_dp.service.jobs.leases import LeaseWatch, PostponedJobs
from blender_dp.service.jobs.worker import LEASE, Worker
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Token
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.service_report import batch_document, service_report_document
from blender_dp.wire.service.contribution import consent_digest
from blender_dp.wire.service.signed_head_list import read_signed_head_list

START = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLENTY = Rate(burst=10**6, per_second=1e6)
UNLIMITED = Limits(most_delta=0.5, enrol=PLENTY, opt_in=PLENTY, wrong_tokens=PLENTY, plan=PLENTY)
CONSENT = "I give my searches to find what is popular."
OPT_IN_USERS = 120
NAMES = [(f"query {i}", f"u{i}.example") for i in range(5)]
BATCH_FIELDS = ("report_id", "token", "question", "items", "cell")


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def elapsed(self) -> float:
        return (self.time - START).total_seconds()

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A running service and those who use it."""

    dependencies: Dependencies
    http: httpx.AsyncClient
    clock: Clock
    event_log: io.StringIO
    tokens: dict[Role, str]
    worker: Worker

    def as_role(self, role: Role = Role.OPERATOR) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[role]}"}

    async def written(self) -> str:
        """Return the event_log, with the requests that were answered just now."""
        await asyncio.sleep(0)
        return self.event_log.getvalue()

    async def jobs_done(self) -> None:
        """Run every job that waits."""
        while await self.worker.run_one():
            pass

    async def outlast_lease(self) -> None:
        """Let the worker see who holds which job, and then no renewal for as long as it waits."""
        assert not await self.worker.run_one()
        self.clock.pass_by(LEASE.total_seconds())

    async def created(self, **changes: Any) -> str:
        answer = await self.http.post(
            "/v1/campaigns", json=a_campaign(**changes), headers=self.as_role()
        )
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def move(self, campaign: str, move: str, origin: str) -> httpx.Response:
        return await self.http.post(
            f"/v1/campaigns/{campaign}/moves",
            json={"move": move, "from": origin},
            headers=self.as_role(),
        )

    async def moved(self, campaign: str, move: str, origin: str) -> None:
        answer = await self.move(campaign, move, origin)
        assert answer.status_code == 200, answer.text

    async def enrolled(self, campaign: str, count: int) -> list[str]:
        answer = await self.http.post(
            f"/v1/campaigns/{campaign}/enrolments", json={"count": count}, headers=self.as_role()
        )
        assert answer.status_code == 201, answer.text
        tokens: list[str] = answer.json()["tokens"]
        return tokens

    async def contribute(self, campaign: str, token: str, **changes: Any) -> httpx.Response:
        return await self.http.post(
            f"/v1/campaigns/{campaign}/opt-in",
            json=a_contribution(**changes),
            headers={"authorization": f"Bearer {token}"},
        )

    async def progress(self, campaign: str) -> dict[str, Any]:
        answer = await self.http.get(
            f"/v1/campaigns/{campaign}/progress", headers=self.as_role(Role.ANALYST)
        )
        found: dict[str, Any] = answer.json()
        return found

    async def state(self, campaign: str) -> str:
        return str((await self.http.get(f"/v1/campaigns/{campaign}")).json()["state"])

    async def send(self, campaign: str, body: Any) -> httpx.Response:
        return await self.http.post(f"/v1/campaigns/{campaign}/reports", json=body)

    async def with_contributions(self, users: int = OPT_IN_USERS, **changes: Any) -> str:
        """Return a campaign to which so many users contributed a record or, every ninth, none."""
        campaign = await self.created(**changes)
        await self.moved(campaign, "open-opt-in", "draft")
        tokens = await self.enrolled(campaign, users) if users else []
        # Together, for half of the CPU: the store writes those that wait in one transaction.
        await asyncio.gather(
            *(self._contribute(campaign, token, number) for number, token in enumerate(tokens))
        )
        return campaign

    async def _contribute(self, campaign: str, token: str, number: int) -> None:
        query, url = NAMES[number % len(NAMES)]
        records = [{"query": query, "url": url}] if number % 9 else []
        answer = await self.contribute(campaign, token, records=records)
        assert answer.status_code == 201, answer.text

    async def published(self, **changes: Any) -> "Published":
        """Return a campaign with its list, open to clients."""
        campaign = await self.with_contributions(**changes)
        await self.moved(campaign, "seal-opt-in", "opt-in-open")
        await self.jobs_done()
        await self.moved(campaign, "open-clients", "list-published")
        return await self.published_list(campaign)

    async def published_list(self, campaign: str) -> "Published":
        """Return a campaign that is open to clients, with its list."""
        document = (await self.http.get(f"/v1/campaigns/{campaign}/head-list")).json()
        return Published(campaign=campaign, head_list=read_signed_head_list(document).head_list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A campaign that takes reports."""

    campaign: str
    head_list: HeadList
    drawn: list[bytes] = field(default_factory=list)

    @property
    def uuid(self) -> UUID:
        return UUID(self.campaign)

    def report(self, report_id: bytes | None = None, number: int = 0) -> dict[str, Any]:
        """Return one honest report."""
        name = report_id or os.urandom(16)
        device = LocalRandomizer(self.head_list, campaign_id=name)
        return service_report_document(
            self.head_list, name, device.report(*NAMES[number % len(NAMES)])
        )

    def report_on_a(self, question: Question) -> dict[str, Any]:
        """Return an honest report of somebody whose id asks this question.

        Without one on a record there is no release.
        """
        report = self.report()
        while report["question"] != question:
            report = self.report()
        return report

    def batch(self, count: int) -> dict[str, Any]:
        """Return honest reports as one request."""
        return self.batch_of([self.report(number=number) for number in range(count)])

    def batch_of(self, reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
        kept = [{k: v for k, v in one.items() if k in BATCH_FIELDS} for one in reports]
        return batch_document(self.head_list, kept)


def a_campaign(**changes: Any) -> dict[str, Any]:
    return {
        "name": "searches",
        "purpose": "find what is popular",
        "controller": "A town library",
        "contact": "privacy@library.example",
        "privacy_policy": "https://library.example/privacy",
        "consent": {"version": "1", "text": CONSENT},
        "parameters": {"epsilon": 4, "delta": 1e-2},
        "expected_clients": 1000,
        "open_enrolment": True,
        **changes,
    }


def a_relay(**changes: Any) -> dict[str, Any]:
    return {
        "address": "https://relay.example/",
        "public_key": to_text(bytes(range(32))),
        "least_batch": 20_000,
        **changes,
    }


def a_contribution(**changes: Any) -> dict[str, Any]:
    consent = {
        "version": "1",
        "text_digest": consent_digest(CONSENT),
        "given_at": "2026-11-15T11:00:00Z",
    }
    return {
        "version": 1,
        "consent": consent,
        "records": [{"query": "weather", "url": "weather.example"}],
        **changes,
    }


def an_unknown_token() -> str:
    return to_text(os.urandom(32))


@asynccontextmanager
async def running(
    directory: Path,
    /,
    *,
    database: str | None = None,
    limits: Limits = UNLIMITED,
    predict: Predict | None = None,
    store_of: Callable[[DatabaseStore], Any] = lambda store: store,
    draw: Callable[[int], bytes] = os.urandom,
    **options: Any,
) -> AsyncIterator[Service]:
    """Start a service, on SQLite unless told; its jobs run when the test says so."""
    clock, event_log = Clock(), io.StringIO()
    store = await open_store(database or str(directory / "service.sqlite"))
    dependencies = Dependencies(
        store=store_of(store),
        keys=KeyVault(directory / "keys", draw=draw),
        now=clock,
        random_bytes=draw,
        limits=limits,
        predict=predict,
        render_report=render_released,
        **options,
    )
    tokens = {role: new_token(draw) for role in Role}
    names = {token.name for token in await store.tokens()}
    for role, token in tokens.items():
        name = f"{role} {len(names)}"
        await store.add_token(
            Token(name=name, role=role, digest=token_digest(token), created_at=START)
        )
    app = create_app(dependencies, EventLog(clock, event_log), has_jobs=False)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    try:
        async with (
            app.framework.lifespan(),
            httpx.AsyncClient(transport=transport, base_url="http://service.example") as http,
        ):
            yield Service(
                dependencies=dependencies,
                http=http,
                clock=clock,
                event_log=event_log,
                tokens=tokens,
                worker=replace(
                    Worker.of(dependencies, EventLog(clock, event_log)),
                    others=LeaseWatch(clock.elapsed),
                    put_off=PostponedJobs(clock.elapsed),
                ),
            )
    finally:
        await store.close()


def slug_of(answer: httpx.Response) -> str:
    """Return which problem an answer is, after a look at its shape."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    document = json.loads(answer.content)
    assert set(document) <= {"type", "title", "status", "where"}, document
    assert document["status"] == answer.status_code
    prefix, _, slug = document["type"].rpartition(":")
    assert prefix == "urn:blender-dp:problem"
    assert document["title"].endswith(".")
    return str(slug)


def uuid_of(campaign: str) -> UUID:
    return UUID(campaign)
