"""Measure the collection service and write ``service.md``: ``make service``."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.goals import Goal, keep_rows
from benchmarks.measure import made_by
from benchmarks.service import floor, growth
from benchmarks.service.trial import BATCH, BATCHES, PRESETS, SINGLES, Trial, tried
from benchmarks.service.workers import Workers, scaled, section
from postgres_server import running_postgres

RESULTS = Path(__file__).parents[1] / "service.md"
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
    "the no-op takes 15 µs of CPU per request. The cheapest durable program, without ASGI and with "
    "no check, counter, limit or log, takes 13 in the same run (load 4; 14 to 18 in smaller groups "
    "at a load of 6 to 8): durability does not rule the goal out, but leaves 2 µs for all the "
    "rest. The checks of a report alone take 5 (2 with `paper`), which is more already. A report "
    "(`sharp`, SQLite, groups of some 63) takes 36 (`paper` 31; load 4): 8 in the kernel for TCP, "
    "6 to read HTTP with time limits and to answer, 5 to decode and check, 2 to log and count, 10 "
    "in the store (6 on the floor; half in the kernel, with two writes per page and nearly a page "
    "per id on both), the rest for groups, between three threads, and for colder caches. By time, "
    "64 connections wait for the disk together, and the no-op does not wait."
)
WHY_SLOW = "with a high load before the run, other work took most of both cores."
WHY_SCALING = (
    "wrk and PostgreSQL need the same two cores as the workers. With one worker a report takes 28 "
    "µs of CPU in the service, 12 in PostgreSQL and 13 in wrk: 23,298 reports per second used 1.22 "
    "of 2 cores (load 3), so two workers could be at most 1.63 times as fast if a report cost no "
    "more. It costs more, as the connections are divided and groups are smaller: 43, 18 and 15, "
    "and 22,951 reports per second used 1.75 of 2 cores (load 3). All of both cores would give "
    "26,300, 1.13 times the rate of one worker; more needs wrk and PostgreSQL on cores of their "
    "own. Figures of all workers are added up in shared files."
)


def main() -> None:
    """Measure, print and write."""
    before = os.getloadavg()[0]
    floors = floor.floors()
    trials, growths, workers = _measured()
    busy = f"Load average before the run: {before:.1f} (1 minute)."
    lines = [f"# The collection service under load\n\n{made_by('make service')} {busy}\n{TEXT}"]
    lines += [_speed(trial) for trial in trials]
    lines += [floor.section(floors, before), section(workers, before)]
    lines += [KEPT, *(_kept(trial) for trial in trials)]
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
        return trials, growths, scaled(server)


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
    count = workers.all.workers
    return [
        *rows,
        Goal(
            what=f"Single reports of {count} workers against one, PostgreSQL ({busy})",
            measured=workers.speed_up,
            at_least=float(count),
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
