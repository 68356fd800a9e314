"""A real service on loopback with the built dashboard, and people who take part by HTTP."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import uvicorn

import blender_dp.service
from blender_dp.cli.released_report import render_released
from blender_dp.client.crowd.many_reports import report_bodies
from blender_dp.core.exact.randomness import Randomness
from blender_dp.server.event_log import EventLog
from blender_dp.service.app import create_app
from blender_dp.service.dependencies import Dependencies, Limits
from blender_dp.service.http.access import Rate, Role, new_token, token_digest
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Token
from blender_dp.wire.reports.service_report import MOST_REPORTS
from blender_dp.wire.service.signed_head_list import read_signed_head_list

ASSETS = Path(blender_dp.service.__file__).parent / "dashboard"
PEOPLE = 400
"""Opt-in users; the most popular queries are then found with near certainty."""
CLIENTS = 3000
POPULAR = tuple((f"query {i}", f"https://www.site-{i}.example/") for i in range(6))
_WAIT = 60.0
_PLENTY = Rate(burst=10**6, per_second=1e6)
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveService:
    """Where it listens, and who may use it."""

    url: str
    tokens: dict[Role, str]

    @property
    def http(self) -> httpx.Client:
        """A client with the operator's token."""
        headers = {"authorization": f"Bearer {self.tokens[Role.OPERATOR]}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=_WAIT)


@contextmanager
def live_service(
    directory: Path, predict: Callable[..., Any] | None, assets: Path | None = ASSETS
) -> Iterator[LiveService]:
    """Run the service, jobs included, in a thread with an event loop of its own."""
    tokens = {role: new_token(os.urandom) for role in Role}
    started: list[str] = []
    ready, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        store = await open_store(str(directory / "service.sqlite"))
        for role, secret in tokens.items():
            await store.add_token(
                Token(name=role, role=role, digest=token_digest(secret), created_at=_now())
            )
        dependencies = Dependencies(
            store=store,
            keys=KeyVault(directory / "keys"),
            now=_now,
            random_bytes=os.urandom,
            limits=Limits(
                enrol=_PLENTY, opt_in=_PLENTY, wrong_tokens=_PLENTY, plan=_PLENTY, most_delta=0.5
            ),
            predict=predict,
            render_report=render_released,
            dashboard=assets,
        )
        with (directory / "log.jsonl").open("w", encoding="utf-8") as log:
            app = create_app(dependencies, EventLog(_now, log))
            config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="on")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server._serve())  # leaves signals alone
            while not server.started:
                await asyncio.sleep(0.01)
            started.append(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
            ready.set()
            await asyncio.to_thread(stop.wait)
            server.should_exit = True
            await serving
        await store.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(_WAIT), "the service did not start"
        yield LiveService(url=started[0], tokens=tokens)
    finally:
        stop.set()
        thread.join(_WAIT)


def _now() -> datetime:
    return datetime.now(UTC)


def new_campaign(name: str) -> dict[str, Any]:
    """Return what an operator sends to make a campaign."""
    return {
        "name": name,
        "purpose": "Find what people look for most, so that browsers can suggest it offline.",
        "controller": "A town library",
        "contact": "privacy@library.example",
        "privacy_policy": "https://library.example/privacy",
        "consent": {"version": "1", "text": "I give my searches, once, to find what is popular."},
        "parameters": {"epsilon": 4, "delta": 1e-4},
        "expected_clients": CLIENTS,
    }


def opt_in(service: LiveService, campaign: str, people: int = PEOPLE) -> None:
    """Let people enrol and contribute a record each, some records more often than others."""
    with service.http as http:
        consent = http.get(f"/campaigns/{campaign}").json()["consent"]
        receipt = {
            "version": consent["version"],
            "text_digest": consent["text_digest"],
            "given_at": "2026-11-15T11:00:00Z",
        }
        made = http.post(f"/campaigns/{campaign}/enrolments", json={"count": people})
        tokens = made.json()["tokens"]

        def contribute(number: int) -> int:
            query, url = POPULAR[popular(number)]
            return http.post(
                f"/campaigns/{campaign}/opt-in",
                json={"version": 1, "consent": receipt, "records": [{"query": query, "url": url}]},
                headers={"authorization": f"Bearer {tokens[number]}"},
            ).status_code

        with ThreadPoolExecutor(8) as pool:
            assert {*pool.map(contribute, range(people))} == {201}


def send_reports(service: LiveService, campaign: str, clients: int = CLIENTS) -> None:
    """Let devices fetch the list and send private reports, many at once."""
    with service.http as http:
        signed = http.get(f"/campaigns/{campaign}/head-list").json()
        head_list = read_signed_head_list(signed).head_list
        index = head_list.cell_index()
        cells = np.array([index.cell(*POPULAR[popular(number)]) for number in range(clients)])
        coins = Randomness.secure()
        for _, body in report_bodies(cells, head_list, coins, batch=MOST_REPORTS):
            answer = http.post(f"/campaigns/{campaign}/reports", content=body, headers=_JSON)
            assert answer.status_code == 202, answer.text


def released_campaign(service: LiveService, name: str) -> str:
    """Take a campaign from draft to release, all by HTTP."""
    with service.http as http:
        campaign = str(http.post("/campaigns", json=new_campaign(name)).json()["id"])
    move(service, campaign, "open-opt-in", "draft")
    opt_in(service, campaign)
    move(service, campaign, "seal-opt-in", "opt-in-open")
    wait_for_state(service, campaign, "list-published")
    move(service, campaign, "open-clients", "list-published")
    send_reports(service, campaign)
    move(service, campaign, "seal-clients", "clients-open")
    wait_for_state(service, campaign, "released")
    return campaign


def move(service: LiveService, campaign: str, name: str, origin: str) -> None:
    """Make a move."""
    with service.http as http:
        answer = http.post(f"/campaigns/{campaign}/moves", json={"move": name, "from": origin})
        assert answer.status_code == 200, answer.text


def wait_for_state(service: LiveService, campaign: str, state: str) -> None:
    """Wait until a job has moved the campaign, at most a minute."""
    patience = threading.Event()
    with service.http as http:
        for _ in range(300):
            found = http.get(f"/campaigns/{campaign}").json()["state"]
            if found == state:
                return
            patience.wait(_WAIT / 300)
    raise AssertionError(f"the campaign stayed {found}")


def popular(number: int) -> int:
    """Spread people over the popular queries: half name the first, a quarter the second ..."""
    return min((number & -number).bit_length() - 1 if number else 0, 3)
