"""CPU time of ``blender-dp run`` with ``sharp``, compared with ``paper``: ``make presets``."""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.big_log import LOGS, ROWS, USERS, big_log
from benchmarks.counting import PROMISE
from benchmarks.measure import Usage, made_by, run_script

PRESETS = ("paper", "sharp")
REPEATS = 5
RESULTS = Path(__file__).parent / "presets.md"


def table() -> str:
    """Return the comparison as Markdown."""
    lines = [
        "## A whole run with `sharp` against `paper`",
        "",
        "Processor seconds of the whole process, user and system, start and report included. The",
        f"presets take turns, {REPEATS} times each. The AOL-shaped log is that of `demo`,",
        f"the big one has {ROWS:,} rows of {USERS:,} users. Goal: at most 1.3 times the CPU",
        "of `paper` on the AOL-shaped log.",
        "",
        "| log | paper, CPU s: least, median | sharp | ratio: of least, of medians | peak MB |",
        "|---|---|---|---|---|",
    ]
    for suffix in ("parquet", "tsv"):
        lines.append(_row(f"AOL-shaped, {suffix}", _aol_shaped_log(suffix)))
    for suffix in ("parquet", "tsv"):
        lines.append(_row(f"big, {suffix}", big_log(suffix)))
    one, five, fifteen = os.getloadavg()
    lines += ["", f"Load of the machine at the end: {one:.1f}, {five:.1f}, {fifteen:.1f}."]
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write."""
    text = table()
    print(text)
    RESULTS.write_text(f"# Presets\n\n{made_by('make presets')}\n\n{text}\n", encoding="utf-8")


def _aol_shaped_log(suffix: str) -> Path:
    """Return the log, made once and kept."""
    path = LOGS / f"aol-shaped.{suffix}"
    if not path.exists():
        LOGS.mkdir(exist_ok=True)
        run_script("blender-dp", "synth", "--shape", "aol", "-o", str(path))
    return path


def _row(name: str, log: Path) -> str:
    print(f"{name} ...", file=sys.stderr, flush=True)
    # In turns, so that a busy spell of the machine meets both.
    turns = [{preset: _run(log, preset) for preset in PRESETS} for _ in range(REPEATS)]
    paper, sharp = ([turn[preset] for turn in turns] for preset in PRESETS)
    (least, middle), (sharp_least, sharp_middle) = _seconds(paper), _seconds(sharp)
    peaks = " and ".join(f"{max(u.peak_mb for u in usages):.0f}" for usages in (paper, sharp))
    return (
        f"| {name} | {least:.2f}, {middle:.2f} | {sharp_least:.2f}, {sharp_middle:.2f} "
        f"| {sharp_least / least:.2f}, {sharp_middle / middle:.2f} | {peaks} |"
    )


def _run(log: Path, preset: str) -> Usage:
    with tempfile.TemporaryDirectory() as directory:
        output = str(Path(directory, "out"))
        return run_script("blender-dp", "run", str(log), "-o", output, "--preset", preset, *PROMISE)


def _seconds(usages: Sequence[Usage]) -> tuple[float, float]:
    """Return the least processor time and the median."""
    seconds = [usage.cpu_seconds for usage in usages]
    return min(seconds), median(seconds)


if __name__ == "__main__":
    main()
