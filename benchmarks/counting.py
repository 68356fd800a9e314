"""Time of ``blender-dp run``, compared with plain SQL that counts without privacy."""

import tempfile
from pathlib import Path

from benchmarks.big_log import ROWS, USERS, big_log
from benchmarks.measure import Usage, run_python, run_script

PROMISE = ["--epsilon", "4", "--delta", "1e-5", "--head-list-size", "50", "--opt-in", "0.05"]
REPEATS = 3


def table() -> str:
    """Return the comparison as Markdown."""
    lines = [
        f"## A whole run on {ROWS:,} rows of {USERS:,} users",
        "",
        "Plain SQL samples one record per user, counts records and ranks 50 queries, without any",
        "privacy; `blender-dp run` does all that and the rest, reports and files included. Every",
        f"figure is the smallest of {REPEATS} processes. Goal: at most 1.5 times the cheaper SQL.",
        "",
        "| input | what | CPU s | wall s | peak MB | CPU ratio | memory ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for suffix in ("parquet", "tsv"):
        lines += _rows(suffix)
    return "\n".join(lines)


def _rows(suffix: str) -> list[str]:
    log = str(big_log(suffix))
    peers = {
        f"plain SQL, {form}": _best(
            [run_python("-m", "benchmarks.plain_sql", form, log) for _ in range(REPEATS)]
        )
        for form in ("obvious", "packed")
    }
    ours = _best([_run(log) for _ in range(REPEATS)])
    least = min(peers.values(), key=lambda usage: usage.cpu_seconds)
    return [
        f"| {suffix} | {what} | {u.cpu_seconds:.1f} | {u.wall_seconds:.1f} | {u.peak_mb:.0f} "
        f"| {u.cpu_seconds / least.cpu_seconds:.2f} | {u.peak_mb / least.peak_mb:.2f} |"
        for what, u in {**peers, "blender-dp run": ours}.items()
    ]


def _run(log: str) -> Usage:
    with tempfile.TemporaryDirectory() as directory:
        return run_script("blender-dp", "run", log, "-o", str(Path(directory, "out")), *PROMISE)


def _best(usages: list[Usage]) -> Usage:
    return Usage(
        min(u.cpu_seconds for u in usages),
        min(u.wall_seconds for u in usages),
        min(u.peak_mb for u in usages),
    )
