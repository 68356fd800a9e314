"""Starts and stops the service; apart from the commands, because it needs the extra."""

import asyncio
import multiprocessing
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

import blender_dp.service
from blender_dp.cli.service_options import ServiceOptions
from blender_dp.cli.terminal import RESULTS, say
from blender_dp.core.errors import BlenderError
from blender_dp.planning.plan import plan
from blender_dp.service.access import Rate, Role, new_token, token_digest
from blender_dp.service.app import create_app
from blender_dp.service.desk import Desk
from blender_dp.service.jobs.ticker import Ticker
from blender_dp.service.jobs.worker import Worker
from blender_dp.service.key_vault import KeyVault
from blender_dp.service.logging import Journal
from blender_dp.service.open_store import open_store
from blender_dp.service.parts import Limits, Parts
from blender_dp.service.store import CampaignStore, Token
from blender_dp.wire.times import written_time

_GRACE = 30
"""Seconds in which requests that were accepted may still be answered."""
_FIRST_TOKEN = "operator"  # noqa: S105 - a name
_STOPPING = (signal.SIGINT, signal.SIGTERM)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where the service listens, and with how many processes."""

    host: str
    port: int
    workers: int
    certificate: Path | None
    key: Path | None
    has_jobs: bool
    uploads_per_second: float | None = None

    @property
    def limits(self) -> Limits:
        """How much is taken from one address."""
        if self.uploads_per_second is None:
            return Limits()
        rate = Rate(
            burst=max(60, ceil(self.uploads_per_second)), per_second=self.uploads_per_second
        )
        return Limits(enrol=rate, opt_in=rate)


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def predict(question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer the planner's question."""
    return plan(**question).document()


@asynccontextmanager
async def opened(storage: ServiceOptions) -> AsyncIterator[Parts]:
    """Open the database and the keys, and close them at the end."""
    keys = KeyVault(storage.key_directory)
    store = await open_store(storage.url)
    try:
        yield Parts(
            store=store,
            keys=keys,
            now=now,
            random_bytes=os.urandom,
            predict=predict,
            dashboard=Path(blender_dp.service.__file__).parent / "dashboard",
        )
    finally:
        await store.close()


def serve_forever(storage: ServiceOptions, listening: Listening) -> None:
    """Serve until a signal comes."""
    storage.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    if made := _run(_first_token(storage)):
        RESULTS.print(f"operator token, shown this once: {made}")
    with _bound(listening) as bound:
        scheme = "https" if listening.certificate else "http"
        host, port = bound.getsockname()[:2]
        place = f"[{host}]" if ":" in host else host
        if listening.workers == 1:
            _run(_serve(storage, listening, bound, f"{scheme}://{place}:{port}"))
        else:
            say(f"listening on {scheme}://{place}:{port}")
            _serve_by_many(storage, listening, bound)
    say("stopped")


@contextmanager
def _bound(listening: Listening) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    try:
        bound = socket.create_server((listening.host, listening.port), family=family, backlog=2048)
    except (OSError, socket.gaierror) as error:
        raise BlenderError(
            f"cannot listen on port {listening.port} of {listening.host} "
            f"({error.strerror or 'no such address'})"
        ) from None
    with bound:
        yield bound


class _Server(uvicorn.Server):
    """A server that is stopped by whoever runs it."""

    address: str | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say where."""
        await super().startup(sockets)
        if self.started and self.address:
            say(f"listening on {self.address}")


async def _serve(
    storage: ServiceOptions, listening: Listening, bound: socket.socket, address: str | None
) -> None:
    async with opened(storage) as parts:
        config = uvicorn.Config(
            create_app(replace(parts, limits=listening.limits), has_jobs=listening.has_jobs),
            loop="none",
            http="httptools",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            ssl_certfile=listening.certificate,
            ssl_keyfile=listening.key,
            timeout_graceful_shutdown=_GRACE,
        )
        server = _Server(config)
        server.address = address

        def stop() -> None:
            server.should_exit = True

        _on_signals(stop)
        await server.serve(sockets=[bound])


def _serve_by_many(storage: ServiceOptions, listening: Listening, bound: socket.socket) -> None:
    """Let several processes answer on one socket; the first of them runs the jobs."""
    spawn = multiprocessing.get_context("spawn")
    processes = [
        spawn.Process(target=_serve_alone, args=(storage, listening, bound, number), daemon=False)
        for number in range(listening.workers)
    ]
    for process in processes:
        process.start()

    def stop(*_: object) -> None:
        for process in processes:
            process.terminate()

    for one in _STOPPING:
        signal.signal(one, stop)
    for process in processes:
        process.join()


def _serve_alone(
    storage: ServiceOptions, listening: Listening, bound: socket.socket, number: int
) -> None:
    has_jobs = listening.has_jobs and number == 0
    alone = replace(listening, workers=1, has_jobs=has_jobs)
    _run(_serve(storage, alone, bound, None))


def work_forever(storage: ServiceOptions, *, once: bool) -> None:
    """Run jobs until a signal comes, or until none waits."""
    _run(_work(storage, once=once))


async def _work(storage: ServiceOptions, *, once: bool) -> None:
    async with opened(storage) as parts:
        journal = Journal(now)
        worker, ticker = Worker.of(parts, journal), Ticker(Desk.of(parts, journal))
        if once:
            await ticker.tick()
            while await worker.run_one():
                pass
            return
        say("working")
        running = [asyncio.create_task(one.run()) for one in (worker, ticker)]

        def stop() -> None:
            for task in running:
                task.cancel()

        _on_signals(stop)
        await asyncio.gather(*running, return_exceptions=True)
    say("stopped")


def create_token(storage: ServiceOptions, name: str, role: str) -> str:
    """Make a token and return it."""

    async def made(store: CampaignStore) -> str:
        return await _made(store, name, Role(role))

    return _run(_with_store(storage, made))


def all_tokens(storage: ServiceOptions) -> list[dict[str, str | None]]:
    """Return every token, without a secret."""

    async def listed(store: CampaignStore) -> list[dict[str, str | None]]:
        return [_shown(token) for token in await store.tokens()]

    return _run(_with_store(storage, listed))


def revoke_token(storage: ServiceOptions, name: str) -> None:
    """End a token."""

    async def revoked(store: CampaignStore) -> None:
        await store.revoke_token(name, now=now())
        await store.note("token-revoked", actor=name, campaign_id=None, now=now())

    _run(_with_store(storage, revoked))


async def _with_store(
    storage: ServiceOptions, work: Callable[[CampaignStore], Awaitable[Answer]]
) -> Answer:
    storage.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = await open_store(storage.url)
    try:
        return await work(store)
    finally:
        await store.close()


async def _first_token(storage: ServiceOptions) -> str | None:
    async def made(store: CampaignStore) -> str | None:
        if await store.tokens():
            return None
        return await _made(store, _FIRST_TOKEN, Role.OPERATOR)

    return await _with_store(storage, made)


async def _made(store: CampaignStore, name: str, role: Role) -> str:
    token = new_token(os.urandom)
    await store.add_token(Token(name=name, role=role, digest=token_digest(token), created_at=now()))
    await store.note("token-created", actor=name, campaign_id=None, now=now())
    return token


def _shown(token: Token) -> dict[str, str | None]:
    return {
        "name": token.name,
        "role": token.role,
        "created_at": written_time(token.created_at),
        "revoked_at": None if token.revoked_at is None else written_time(token.revoked_at),
    }


def _on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for one in _STOPPING:
        loop.add_signal_handler(one, stop)


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)
