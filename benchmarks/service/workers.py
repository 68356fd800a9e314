"""Single reports on PostgreSQL with one worker and with one per core, and who uses the cores.

python -m benchmarks.service.workers    # this part alone; prints, keeps no rows
"""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.service import campaign, servers
from benchmarks.service.load import Measured
from benchmarks.service.trial import MOST_SINGLES, SINGLES, stage_of
from postgres_server import PostgresServer, running_postgres


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Single reports with a number of workers."""

    workers: int
    load: Measured
    service_seconds: float
    """Processor time of all workers."""
    postgres_seconds: float
    """The same of PostgreSQL."""
    busy_share: float
    """Of all cores, by all programs of the machine, others too."""

    @property
    def cores(self) -> float:
        """Cores that the load, the workers and PostgreSQL use."""
        return sum(self.cpu_seconds) / self.load.seconds

    @property
    def cpu_seconds(self) -> tuple[float, float, float]:
        """Processor time of the workers, of PostgreSQL and of the load."""
        return self.service_seconds, self.postgres_seconds, self.load.cpu_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """One worker, and one per core."""

    one: Run
    all: Run

    @property
    def speed_up(self) -> float:
        """The rate of all workers against that of one."""
        return self.all.load.per_second / self.one.load.per_second

    @property
    def bound(self) -> float:
        """The speed-up that would use all cores, if a report cost no more than with one worker."""
        return self.all.workers / self.one.cores


def scaled(server: PostgresServer) -> Workers:
    """Measure one worker, then one per core, each with an empty database."""
    one, every = (_run(server, count) for count in (1, os.cpu_count() or 1))
    return Workers(one=one, all=every)


def _run(postgres: PostgresServer, workers: int) -> Run:
    database = asyncio.run(postgres.fresh_database())
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        published, bodies = campaign.head_list("paper"), directory / "ones"
        collecting = campaign.collecting(directory, database, published)
        requests = MOST_SINGLES * SINGLES.seconds
        campaign.write_bodies(bodies, published, requests=requests, reports_each=1)
        with servers.running(servers.service(directory, database, workers)) as service:
            url = f"{service.url}/v1/campaigns/{collecting}/reports"
            used, before = _postgres_seconds(postgres), psutil.cpu_times()
            stage = stage_of(service, url, bodies, SINGLES)
            return Run(
                workers=workers,
                load=stage.load,
                service_seconds=stage.cpu_seconds,
                postgres_seconds=_postgres_seconds(postgres) - used,
                busy_share=_busy_share(before, psutil.cpu_times()),
            )


def _busy_share(before: Any, after: Any) -> float:  # noqa: ANN401 - psutil's, which has no types
    idle = after.idle + after.iowait - before.idle - before.iowait
    return float(1 - idle / (sum(after[:8]) - sum(before[:8])))  # guests are counted in user


def _postgres_seconds(server: PostgresServer) -> float:
    pid = (server.cluster / "postmaster.pid").read_text(encoding="ascii").split()[0]
    return servers.cpu_seconds(psutil.Process(int(pid)))


def section(workers: Workers, load: float) -> str:
    """Return the section of the page."""
    count, bound, reached = workers.all.workers, workers.bound, workers.speed_up
    return f"""
Single reports on PostgreSQL, `paper`, by the number of workers, with the processor time per report
of each program; all three need the same {count} cores. If a report cost no more than with one,
{count} workers could be at most {bound:.2f} times as fast; they are {reached:.2f} times as fast.
*Busy* counts other programs of the machine too. Load average before: {load:.1f}.

| workers | reports/s | workers | PostgreSQL | wrk | together | cores used by these | busy |
|---|---|---|---|---|---|---|---|
{_row(workers.one)}{_row(workers.all)}"""


def _row(run: Run) -> str:
    each = [f"{1e6 * seconds / run.load.requests:.0f} µs" for seconds in run.cpu_seconds]
    together = 1e6 * sum(run.cpu_seconds) / run.load.requests
    return (
        f"| {run.workers} | {run.load.per_second:,.0f} | {' | '.join(each)} "
        f"| {together:.0f} µs | {run.cores:.2f} | {run.busy_share:.0%} |\n"
    )


if __name__ == "__main__":
    before = os.getloadavg()[0]
    with running_postgres(is_durable=True) as running:
        print(section(scaled(running), before))
