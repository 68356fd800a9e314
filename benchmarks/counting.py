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
_RULE = (
    "Plain SQL draws by a random number per row. Here a sample may depend on its user only, so "
    "users are numbered and their records counted off. "
)
_CPU_OF = {
    "no order": "Of `paper`, 12 % are spent before the log is read, 34 % on the first reading "
    "(half of it in DuckDB, half in the table where every row looks its user up), 13 % on ids and "
    "secret order, 11 % on counting off, 20 % on the second reading, of the strings.",
    "users in order": "Plain SQL needs no table of users here. Of `paper`, 18 % are spent before "
    "the log is read, 18 % on the first reading, 18 % on ids and secret order, 6 % on counting "
    "off, 29 % on the second reading, of the strings, which alone takes half of what plain SQL "
    "takes.",
    "long strings": "Of `paper`, 10 % are spent before the log is read, 30 % on the first "
    "reading, 10 % on ids and secret order, 9 % on counting off, 29 % on the second reading, of "
    "the strings.",
    "text": "A text file is read twice, because a row's number is its identity: of `paper`, 47 % "
    "is the first reading, 35 % the second; DuckDB takes 1.1 s to find the ends of the lines and "
    "1.8 s to read all strings, each time.",
}
"""By log: where the processor's time goes, by a timer around every statement."""
_SHARP = (
    " `sharp` reads three times as many strings, all records of the opt-in users, groups 1.5 "
    "million rows by query and URL as they are read, and then by user and code; ranks a million "
    "of them within each user, and adds up their weights. Tried: codes from a grouping and a join "
    "(as much CPU as no codes), DuckDB's compressed tables (no less memory), names read last (a "
    "third reading takes 0.5 s)."
)
_MEMORY = (
    "Imports hold 110 MB more than plain SQL's; the table of users, their order and what is drawn "
    "for each 110 MB, reading the drawn records 60 MB. `sharp` groups the records that it reads, "
    "in a table for each thread: 200 MB with short strings, 450 MB with long ones."
)


def _why(log: str, preset: str) -> str:
    """Return why a run takes more CPU than plain SQL."""
    return _RULE + _CPU_OF[log] + (_SHARP if preset == "sharp" else "")


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
        goals = [*_goals(name, used, cpu, peak)]
        if name == "text":
            goals += _against_parquet(used)
        keep_rows(area, command, goals)


def _measure(log: Path) -> dict[str, Usage]:
    """Run every program in turns, so that a busy spell of the machine meets all."""
    turns = [
        {form: run_python("-m", "benchmarks.plain_sql", form, str(log)) for form in forms_for(log)}
        | {preset: _run(log, preset) for preset in MOST_CPU}
        for _ in range(REPEATS)
    ]
    return {what: least([turn[what] for turn in turns]) for what in turns[0]}


def _goals(log: str, used: Mapping[str, Usage], cpu: float, peak: float) -> Iterator[Goal]:
    for preset, most in MOST_CPU.items():
        usage = used[preset]
        what = f"`run`, `{preset}`, against the cheapest plain SQL"
        spent, held = f"{usage.cpu_seconds:.1f} s", f"{usage.peak_mb:.0f} MB"
        yield Goal(
            what=f"{what}: CPU ({spent})",
            measured=usage.cpu_seconds / cpu,
            at_most=most,
            why=_why(log, preset),
        )
        yield Goal(
            what=f"{what}: memory ({held})",
            measured=usage.peak_mb / peak,
            at_most=MOST_MEMORY,
            why=_MEMORY,
        )


def _against_parquet(used: Mapping[str, Usage]) -> Iterator[Goal]:
    """Compare the memory with that of the same log in Parquet."""
    for preset in MOST_CPU:
        peak = _run(big_log(LOGS["no order"]), preset).peak_mb
        yield Goal(
            what=f"`run`, `{preset}`, against the same log in Parquet: memory ({peak:.0f} MB)",
            measured=used[preset].peak_mb / peak,
            at_most=MOST_MEMORY,
            why="The reader of text holds what it splits.",
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
