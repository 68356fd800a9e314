"""CPU and memory of ``blender-dp run``, compared with the cheapest plain SQL on four logs.

``python -m benchmarks.counting`` measures all of them, with names of logs only those.
"""

import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.big_log import ROWS, USERS, big_log
from benchmarks.goals import Goal, keep_rows
from benchmarks.measure import Usage, run_python, run_script
from benchmarks.plain_sql import forms_for

PROMISE = [
    "--epsilon",
    "4",
    "--delta",
    "1e-5",
    "--yes",
    "--head-list-size",
    "50",
    "--opt-in",
    "0.05",
]
REPEATS = 3
LOGS = {
    "no order": "parquet",
    "users in order": "ordered.parquet",
    "long strings": "long.parquet",
    "text": "tsv",
}
"""The four logs and the ends of their files' names."""
MOST_CPU = {"paper": 1.3, "sharp": 1.5}
"""Goals, in times the CPU of the cheapest plain SQL."""
MOST_MEMORY = 1.5
_WHY = (
    "users are numbered and their records counted off, because a sample may depend on its user "
    "only: of the whole, with `paper` and users in no order, 36 % is the first reading, in which "
    "every row looks its user up in a table; 8 % counts off, 14 % reads the drawn records, 10 % "
    "orders the users by their keyed hashes, 17 % are imports. `sharp` holds all records of the "
    "opt-in users, three times as many rows as the sample: 240 MB more. Plain SQL draws by a "
    "random number per row. Ratios and shares were taken on a busy machine."
)


def table() -> str:
    """Return the comparison as Markdown; keep the rows of goals."""
    return "\n".join(_lines(LOGS))


def _lines(names: Iterable[str]) -> Iterator[str]:
    yield f"## A whole run on {ROWS:,} rows of {USERS:,} users\n"
    yield "Plain SQL samples one record per user, counts records and ranks 50 queries, without any"
    yield "privacy; `blender-dp run` does all that and the rest, reports and files included."
    yield f"Programs take turns; every figure is the smallest of {REPEATS} processes.\n"
    yield "| log | what | CPU s | wall s | peak MB | CPU ratio | memory ratio |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        used = _measure(big_log(LOGS[name]))
        peers = [usage for what, usage in used.items() if what not in MOST_CPU]
        cpu, peak = (min(getattr(u, of) for u in peers) for of in ("cpu_seconds", "peak_mb"))
        for what, u in used.items():
            yield (
                f"| {name} | {what} | {u.cpu_seconds:.1f} | {u.wall_seconds:.1f} | {u.peak_mb:.0f} "
                f"| {u.cpu_seconds / cpu:.2f} | {u.peak_mb / peak:.2f} |"
            )
        area, command = f"run, {name}", f"python -m benchmarks.counting '{name}'"
        keep_rows(area, command, list(_goals(used, cpu, peak)))


def _measure(log: Path) -> dict[str, Usage]:
    """Run every program in turns, so that a busy spell of the machine meets all."""
    turns = [
        {form: run_python("-m", "benchmarks.plain_sql", form, str(log)) for form in forms_for(log)}
        | {preset: _run(log, preset) for preset in MOST_CPU}
        for _ in range(REPEATS)
    ]
    return {what: least([turn[what] for turn in turns]) for what in turns[0]}


def _goals(used: Mapping[str, Usage], cpu: float, peak: float) -> Iterator[Goal]:
    for preset, most in MOST_CPU.items():
        usage = used[preset]
        what = f"`run`, `{preset}`, against the cheapest plain SQL"
        spent, held = f"{usage.cpu_seconds:.1f} s", f"{usage.peak_mb:.0f} MB"
        yield Goal(
            what=f"{what}: CPU ({spent})",
            measured=usage.cpu_seconds / cpu,
            at_most=most,
            why=_WHY,
        )
        yield Goal(
            what=f"{what}: memory ({held})",
            measured=usage.peak_mb / peak,
            at_most=MOST_MEMORY,
            why=_WHY,
        )


def _run(log: Path, preset: str) -> Usage:
    with tempfile.TemporaryDirectory() as directory:
        output = str(Path(directory, "out"))
        return run_script("blender-dp", "run", str(log), "-o", output, "--preset", preset, *PROMISE)


def least(usages: list[Usage]) -> Usage:
    """Return the least of each figure."""
    return Usage(
        min(u.cpu_seconds for u in usages),
        min(u.wall_seconds for u in usages),
        min(u.peak_mb for u in usages),
    )


if __name__ == "__main__":
    print("\n".join(_lines(sys.argv[1:] or LOGS)))
