"""Measure the collection service and write ``service.md``: ``make service``."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.goals import Goal, keep_rows
from benchmarks.measure import made_by
from benchmarks.service import growth
from benchmarks.service.trial import BATCH, BATCHES, SINGLES, Trial, Workers, scaled, tried
from postgres_server import running_postgres

RESULTS = Path(__file__).parents[1] / "service.md"
PRESETS = ("sharp", "paper")
TEXT = f"""
Reports for a list of 500 queries at ε = 4, from wrk on the same machine, over loopback: single
reports over {SINGLES.connections} connections for {SINGLES.seconds} s, the same with pauses that
about halve the rate (*half*), then batches of {BATCH:,} over {BATCHES.connections} for
{BATCHES.seconds} s. One process of `blender-dp serve`, with its log; every answer comes after the
commit is on disk (SQLite WAL with `synchronous=FULL`; PostgreSQL with `fsync` and
`synchronous_commit` on). *Nothing* is an ASGI application on the same server that takes the same
requests and does nothing, right before. Load generator, service and database share the cores.
*By CPU* is the same share, or the same rate, for a second of the server's processor time, which
varies less with what else the machine does; PostgreSQL's own time is not in it.

The last column (–) counts requests that were refused or broken off.

| store | preset | nothing | single/s | share | by CPU | p50 | p99 | half/s | p99 \
| batched/s | by CPU | p99 | – |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""
KEPT = """
After each run the service was killed with SIGKILL and its store opened anew. What was under way
when the load ended may be there without an answer; nothing that was answered may be missing.

| store | preset | acknowledged | on disk | memory before | singles: half-way, after | batches |
|---|---|---|---|---|---|---|
"""
GROWTH = """
Ids are random, so each goes to another page of a tree: with every million there are more pages to
write. SQLite therefore moves older ids out of its tree. Reports a second, in batches, into the
store itself without HTTP, while it grows:

"""


WHY_SINGLES = (
    "the no-op takes 16 µs of CPU per request, 6 of them in the kernel. A report (`sharp`, SQLite, "
    "groups of some 48) takes 42: 8 in the kernel for TCP, 6 to read HTTP, 5 to decode and check "
    "(3 with `paper`), 5 to answer, log and count, 15 in the store (6 of them in the kernel: its "
    "pages and the wait for the disk), 3 between threads. So what comes before the store costs a "
    "little more than the no-op with its ASGI, and durability about as much again. By time, 64 "
    "connections wait for the disk together, and the no-op does not wait."
)
WHY_SLOW = "with a high load before the run, other work took most of both cores."
WHY_SCALING = (
    "wrk and PostgreSQL need the same cores as the workers. With two workers the connections are "
    "divided, so groups are smaller, and a report takes 50 µs of the service's CPU in place of 38 "
    "and 22 of PostgreSQL's in place of 15; figures of all workers are added up in shared files. "
    "With 128 connections two reached 1.2 to 1.3 times the rate of one on two cores."
)


def main() -> None:
    """Measure, print and write."""
    before = os.getloadavg()[0]
    trials, growths, workers = _measured()
    busy = f"Load average before the run: {before:.1f} (1 minute)."
    lines = [f"# The collection service under load\n\n{made_by('make service')} {busy}\n{TEXT}"]
    lines += [_speed(trial) for trial in trials]
    lines += [_scaled(workers), KEPT, *(_kept(trial) for trial in trials)]
    millions = range(1, growth.MILLIONS + 1)
    header = f"| million | {' | '.join(map(str, millions))} |\n|{'---|' * (1 + len(millions))}\n"
    lines += [GROWTH, header, *(_grown(store, rates) for store, rates in growths.items())]
    text = "".join(lines)
    print(text)
    lost = [trial for trial in trials if trial.kept < trial.acknowledged]
    if lost:
        raise SystemExit("acknowledged reports are missing")
    RESULTS.write_text(text, encoding="utf-8")
    keep_rows("service", "make service", goals(trials, workers, before))


def _measured() -> tuple[Sequence[Trial], Mapping[str, Sequence[growth.Rate]], Workers]:
    trials = [tried("SQLite", preset) for preset in PRESETS]
    growths = {"SQLite": growth.rates()}
    with running_postgres(is_durable=True) as server:
        trials += [
            tried("PostgreSQL", preset, asyncio.run(server.fresh_database())) for preset in PRESETS
        ]
        growths["PostgreSQL"] = growth.rates(asyncio.run(server.fresh_database()))
        workers = scaled(asyncio.run(server.fresh_database()))
    return trials, growths, workers


def _speed(trial: Trial) -> str:
    single, half, batch = trial.single.load, trial.half.load, trial.batch.load
    refused = sum(one.refused + one.broken for one in (single, half, batch))
    return (
        f"| {trial.store} | {trial.preset} | {trial.nothing.load.per_second:,.0f} "
        f"| {single.per_second:,.0f} | {trial.share:.2f} | {trial.cpu_share:.2f} "
        f"| {single.p50:.0f} ms | {single.p99:.0f} ms "
        f"| {half.per_second:,.0f} | {half.p99:.0f} ms | {batch.per_second * BATCH:,.0f} "
        f"| {trial.batch.requests_per_cpu_second * BATCH:,.0f} | {batch.p99:.0f} ms "
        f"| {refused:,} |\n"
    )


def _scaled(workers: Workers) -> str:
    rates = [f"{load.per_second:,.0f}" for load in (workers.one, workers.all)]
    return (
        f"\nSingle reports a second on PostgreSQL, `paper`: {rates[0]} with one worker, "
        f"{rates[1]} with `--workers {workers.count}`.\n"
    )


def goals(trials: Sequence[Trial], workers: Workers, load: float) -> Sequence[Goal]:
    """Return the rows for the page of goals."""
    busy = f"load {load:.0f} before"
    rows = []
    for trial in trials:
        name = f"{trial.store}, `{trial.preset}` ({busy})"
        rows += [
            *(
                Goal(
                    what=f"Single reports against a no-op ASGI app on uvicorn, {how}, {name}",
                    measured=share,
                    at_least=1.0,
                    why=WHY_SINGLES,
                )
                for how, share in (("by time", trial.share), ("by CPU", trial.cpu_share))
            ),
            Goal(
                what=f"p99 of single reports at half the highest rate, {name}",
                measured=trial.half.load.p99,
                unit="ms",
                at_most=50.0,
                why=WHY_SLOW,
            ),
        ]
    return [
        *rows,
        Goal(
            what=f"Single reports of {workers.count} workers against one, PostgreSQL ({busy})",
            measured=workers.all.per_second / workers.one.per_second,
            at_least=float(workers.count),
            why=WHY_SCALING,
        ),
    ]


def _kept(trial: Trial) -> str:
    memory = [
        f"{half_way:.0f}, {after:.0f} MB"
        for half_way, after in (trial.single.memory_mb, trial.batch.memory_mb)
    ]
    return (
        f"| {trial.store} | {trial.preset} | {trial.acknowledged:,} | {trial.kept:,} "
        f"| {trial.memory_before:.0f} MB | {memory[0]} | {memory[1]} |\n"
    )


def _grown(store: str, rates: Sequence[growth.Rate]) -> str:
    return f"| {store} | {' | '.join(f'{rate.per_second:,.0f}' for rate in rates)} |\n"


if __name__ == "__main__":
    main()
