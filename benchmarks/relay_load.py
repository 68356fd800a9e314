"""Measure a relay under load, and how fast reports are opened: ``make relay-load``."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from uuid import UUID

import uvicorn
from relay.stand_in_collector import OPENING, StandInCollector

from benchmarks.measure import made_by
from benchmarks.service import servers
from benchmarks.service.trial import BATCH, BATCHES, SINGLES, Stage, stage_of
from blender_dp.relay.signing_key import signing_key
from blender_dp.relay.storage.store import SCHEMA, RelayStore
from blender_dp.server.databases.open_database import open_database
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.service.signatures import public_key_of
from postgres_server import running_postgres

RESULTS = Path(__file__).parent / "relay_load.md"
CAMPAIGN = UUID("00000000-0000-4000-8000-000000000001")
_MOST_SINGLES, _MOST_BATCHES = 15_000, 330
_OPENED = 20_000
TEXT = f"""
Encrypted reports from wrk on the same machine, over loopback: single reports over
{SINGLES.connections} connections for {SINGLES.seconds} s, then batches of {BATCH:,} over
{BATCHES.connections} for {BATCHES.seconds} s. One process of `blender-dp relay`; every answer comes
after the commit is on disk. *Nothing* is a route of a framework on the same server that takes the
same requests and does nothing, right before. Load generator, relay and database share the cores.
*By CPU* is the same share, or the same rate, for a second of the relay's processor time, which
varies less with what else the machine does. PostgreSQL's own time is not in it.

Goals: single reports at least 0.5 of the rate of a route that does nothing; batches at least
100,000 reports per second; the collector opens at least 7,000 reports per second and core.

| store | nothing | single/s | share | by CPU | p99 | batched/s | by CPU | p99 | refused |
|---|---|---|---|---|---|---|---|---|---|
"""
KEPT = """
After each run the relay was killed with SIGKILL and its database opened anew. What was under way
when the load ended may be there without an answer; nothing that was answered may be missing.

| store | acknowledged | on disk |
|---|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What was measured on one store."""

    store: str
    nothing: Stage
    single: Stage
    batch: Stage
    kept: int

    @property
    def acknowledged(self) -> int:
        """Reports that were answered as accepted."""
        single, batch = self.single.load, self.batch.load
        return single.requests - single.refused + BATCH * (batch.requests - batch.refused)

    def row(self) -> str:
        """Return the line of the table."""
        single, batch = self.single.load, self.batch.load
        share = single.per_second / self.nothing.load.per_second
        by_cpu = self.single.requests_per_cpu_second / self.nothing.requests_per_cpu_second
        refused = sum(one.refused + one.broken for one in (single, batch))
        return (
            f"| {self.store} | {self.nothing.load.per_second:,.0f} | {single.per_second:,.0f} "
            f"| {share:.2f} | {by_cpu:.2f} | {single.p99:.0f} ms "
            f"| {batch.per_second * BATCH:,.0f} "
            f"| {self.batch.requests_per_cpu_second * BATCH:,.0f} | {batch.p99:.0f} ms "
            f"| {refused:,} |\n"
        )


def main() -> None:
    """Measure, print and write."""
    before = os.getloadavg()[0]
    trials = [tried("SQLite")]
    with running_postgres(is_durable=True) as server:
        trials.append(tried("PostgreSQL", asyncio.run(server.fresh_database())))
    busy = f"Load average before the run: {before:.1f} (1 minute)."
    lines = [f"# A relay under load\n\n{made_by('make relay-load')} {busy}\n{TEXT}"]
    lines += [trial.row() for trial in trials]
    lines.append(KEPT)
    lines += [f"| {one.store} | {one.acknowledged:,} | {one.kept:,} |\n" for one in trials]
    rate = opened_per_second()
    lines.append(f"\nThe collector opens {rate:,.0f} reports per second of one core.\n")
    text = "".join(lines)
    print(text)
    if any(trial.kept < trial.acknowledged for trial in trials):
        raise SystemExit("acknowledged reports are missing")
    RESULTS.write_text(text, encoding="utf-8")


def tried(store: str, database: str | None = None) -> Trial:
    """Measure a relay on a store; SQLite in a temporary directory unless an address is given."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        address = database or str(directory / "relay.sqlite")
        collector = StandInCollector(CAMPAIGN, public_key_of(signing_key(directory)))
        ones, many = directory / "ones", directory / "many"
        write_bodies(ones, collector, requests=_MOST_SINGLES * SINGLES.seconds, reports_each=1)
        write_bodies(many, collector, requests=_MOST_BATCHES * BATCHES.seconds, reports_each=BATCH)
        with servers.running(servers.nothing()) as noop:
            nothing = stage_of(noop, noop.url, ones, SINGLES)
        with listening(collector) as url, servers.running(_relay(directory, address, url)) as relay:
            path = f"{relay.url}/v1/campaigns/{CAMPAIGN}/reports"
            single = stage_of(relay, path, ones, SINGLES)
            batch = stage_of(relay, path, many, BATCHES)
        kept = asyncio.run(_kept(address))
        return Trial(store=store, nothing=nothing, single=single, batch=batch, kept=kept)


def _relay(directory: Path, database: str, collector: str) -> tuple[str, ...]:
    return (
        *("blender_dp.cli", "relay", "--port", "0", "--data", str(directory)),
        *("--database", database, "--collector", collector),
    )


def write_bodies(
    path: Path, collector: StandInCollector, *, requests: int, reports_each: int
) -> None:
    """Write requests, one per line; a relay cannot tell random bytes from encrypted reports."""
    length, key = collector.encryption.length, f'"encryption_key":"{collector.encryption_key}"'
    start = f'{{"version":1,"head_list":"{collector.digest}",{key},'
    with path.open("w", encoding="ascii") as file:
        for _ in range(requests):
            texts = [f'"{to_text(os.urandom(length))}"' for _ in range(reports_each)]
            reports = (
                f'"report":{texts[0]}' if reports_each == 1 else f'"reports":[{",".join(texts)}]'
            )
            file.write(f"{start}{reports}}}\n")


@contextmanager
def listening(collector: StandInCollector) -> Iterator[str]:
    """Serve a collector in a thread."""
    config = uvicorn.Config(collector, port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = Thread(target=lambda: asyncio.run(server._serve()))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


async def _kept(address: str) -> int:
    database = await open_database(address, SCHEMA)
    try:
        store = RelayStore(database)
        [batch] = await store.batches()
        reports = await store.reports(batch)
        assert len(reports) == batch.count
        return len(reports)
    finally:
        await database.close()


def opened_per_second() -> float:
    """Return how many reports one core decrypts and checks in a second."""
    collector = StandInCollector(CAMPAIGN, to_text(bytes(32)))
    sent = [collector.encrypt(number) for number in range(_OPENED)]
    began = time.process_time()
    for one in sent:
        collector.encryption.decrypt(one, OPENING)
    return _OPENED / (time.process_time() - began)


if __name__ == "__main__":
    main()
