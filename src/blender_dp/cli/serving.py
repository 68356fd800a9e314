"""Start and stop of the service, in a separate file because it needs the extra."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import blender_dp.service
from blender_dp.cli.bounded_planner import BoundedPlanner
from blender_dp.cli.ending import Ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.failures import explain_errors
from blender_dp.cli.http_server import Tls, address_of, bind, serve_app
from blender_dp.cli.service_options import ServiceOptions
from blender_dp.cli.service_tokens import first_token
from blender_dp.cli.supervision import Supervisor
from blender_dp.cli.terminal import RESULTS
from blender_dp.server.event_log import EventLog
from blender_dp.server.library_messages import all_lines_in
from blender_dp.service.app import create_app
from blender_dp.service.campaign import Campaign
from blender_dp.service.dependencies import MOST_DELTA, Dependencies, Limits
from blender_dp.service.http.access import Rate
from blender_dp.service.jobs.ticker import Ticker
from blender_dp.service.jobs.worker import Worker
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.operation.metrics import shared_figures
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.open_store import open_store, require_own_keys
from blender_dp.service.storage.store import Document, Reason, StoreRefusal

_JOBS_LEFT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Address, port and number of processes of the service."""

    host: str
    port: int
    workers: int
    certificate: Path | None
    key: Path | None
    has_jobs: bool
    uploads_per_second: float | None = None
    most_delta: float = MOST_DELTA
    first_token_file: Path | None = None
    """File for the operator's token; printed if None."""
    has_private_metrics: bool = False
    proxies: tuple[str, ...] = ()
    """Networks of front ends whose X-Forwarded-For is trusted."""

    @property
    def limits(self) -> Limits:
        """Rate limits per address, and the largest δ of a campaign."""
        if self.uploads_per_second is None:
            return Limits(most_delta=self.most_delta)
        rate = Rate(
            burst=max(60, ceil(self.uploads_per_second)), per_second=self.uploads_per_second
        )
        return Limits(enrol=rate, opt_in=rate, most_delta=self.most_delta)


@asynccontextmanager
async def open_dependencies(storage: ServiceOptions) -> AsyncIterator[Dependencies]:
    """Open the database and the keys, and close them at the end."""
    keys = KeyVault(storage.key_directory)
    store = await open_store(storage.url)
    try:
        await require_own_keys(store, keys)
        yield Dependencies(
            store=store,
            keys=keys,
            now=now,
            random_bytes=os.urandom,
            predict=BoundedPlanner(),
            render_report=_render_released,
            directory=storage.data,
            dashboard=Path(blender_dp.service.__file__).parent / "dashboard",
        )
    finally:
        await store.close()


def _render_released(campaign: Campaign, documents: Mapping[Document, Mapping[str, Any]]) -> str:
    from blender_dp.cli.released_report import render_released  # noqa: PLC0415 - seldom needed

    return render_released(campaign, documents)


async def _require_usable(storage: ServiceOptions) -> None:
    async with open_dependencies(storage):
        pass


def serve_forever(storage: ServiceOptions, listening: Listening) -> None:
    """Serve until a signal comes."""
    made = first_token(storage, listening.first_token_file)
    if made and not listening.first_token_file:
        RESULTS.print(f"operator token, shown this once: {made}")
    event_log = EventLog(now)
    with all_lines_in(event_log), bind(listening.host, listening.port) as bound:
        scheme = "https" if listening.certificate else "http"
        address = address_of(bound, scheme)
        listens = partial(event_log.write, "listening", address=address)
        if listening.workers == 1:
            run_loop(_serve(storage, listening, bound, Ending(event_log=event_log), listens))
        else:
            run_loop(_require_usable(storage))  # checked once, not by every worker
            serve = partial(serve_as_worker, storage, listening, bound)
            with shared_figures() as died:
                workers = Supervisor(
                    serve, listening.workers, event_log, listens=listens, died=died
                )
                status = workers.run()
            if status:
                sys.exit(status)
        event_log.write("stopped")


async def _serve(
    storage: ServiceOptions,
    listening: Listening,
    bound: socket.socket,
    ending: Ending,
    listens: Callable[[], None],
    *,
    is_replacement: bool = False,
) -> None:
    async with open_dependencies(storage) as dependencies:
        dependencies.metrics.gauges.count_worker(
            expected=listening.workers, is_replacement=is_replacement
        )
        app = create_app(
            replace(
                dependencies,
                limits=listening.limits,
                metrics_need_token=listening.has_private_metrics,
            ),
            ending.event_log,
            has_jobs=listening.has_jobs,
        )
        tls = Tls(certificate=listening.certificate, key=listening.key, proxies=listening.proxies)
        await serve_app(app, bound, ending, listens, tls, direct=app.reports)
    ending.is_closed = True


def serve_as_worker(
    storage: ServiceOptions,
    listening: Listening,
    bound: socket.socket,
    _number: int,
    saying: Connection,
    is_replacement: bool,
) -> None:
    """Serve in one of several processes; any of them may run jobs and deadlines."""
    ending = Ending(event_log=EventLog(now))
    ending.with_parent()
    with all_lines_in(ending.event_log), explain_errors():
        listens = partial(saying.send_bytes, b"!")
        run_loop(_serve(storage, listening, bound, ending, listens, is_replacement=is_replacement))


def work_forever(storage: ServiceOptions, *, once: bool) -> None:
    """Run jobs until a signal comes, or until none waits."""
    event_log = EventLog(now)
    with all_lines_in(event_log):
        if not once:
            run_loop(_work(storage, event_log))
        elif not run_loop(_work_once(storage, event_log)):
            event_log.write("jobs-left", reason="store-busy")
            sys.exit(_JOBS_LEFT)


async def _work_once(storage: ServiceOptions, event_log: EventLog) -> bool:
    """Run the waiting jobs; return False if a busy database made it leave some of them."""
    async with open_dependencies(storage) as dependencies:
        try:
            await Ticker(ServiceState.of(dependencies, event_log)).tick()
            return await Worker.of(dependencies, event_log).run_all()
        except StoreRefusal as refusal:
            if refusal.reason is not Reason.OVERLOADED:
                raise
            return False


async def _work(storage: ServiceOptions, event_log: EventLog) -> None:
    ending = Ending(event_log=event_log)
    async with open_dependencies(storage) as dependencies:
        worker, ticker = (
            Worker.of(dependencies, event_log),
            Ticker(ServiceState.of(dependencies, event_log)),
        )
        event_log.write("working")
        running = [asyncio.create_task(one.run()) for one in (worker, ticker)]

        def stop() -> None:
            for task in running:
                task.cancel()

        ending.on_signals(stop)
        await asyncio.gather(*running, return_exceptions=True)
    ending.is_closed = True
    event_log.write("stopped")
