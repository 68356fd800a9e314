"""CPU of a start: the version, the import, and a run on a thousand rows.

The package's bytecode is written first, as pip does when it installs a package.
"""

import compileall
import tempfile
from collections.abc import Callable
from pathlib import Path

import blender_dp
from benchmarks.counting import PROMISE, REPEATS, least
from benchmarks.goals import Goal, keep_rows
from benchmarks.measure import Usage, run_python, run_script

PACKAGE = Path(blender_dp.__file__).parent
ROWS, USERS = 1_000, 200


WHY = {
    f"`run` on {ROWS:,} rows": "of 0.6 s, imports take 0.3 s (the command line 0.08, numpy 0.04, "
    "pyarrow 0.05, duckdb 0.03, narwhals 0.03, 130 dataclasses of this package 0.05), the exact "
    "plan and certificate of the Gaussian branch 0.08 s, some ninety projections and small "
    "statements 0.1 s, the result's files 0.02 s, and ending the process 0.05 s."
}


def table() -> str:
    """Return the figures as Markdown; keep the rows of goals."""
    compileall.compile_dir(PACKAGE, quiet=1)
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory, "log.tsv")
        rows = (f"u{i % USERS}\tquery {i % 7}\turl{i % 7}.example\n" for i in range(ROWS))
        log.write_text("user\tquery\turl\n" + "".join(rows), encoding="utf-8")
        output = str(Path(directory, "out"))
        run = ["run", str(log), "-o", output, "--overwrite", *PROMISE]
        programs: dict[str, tuple[float, Callable[[], Usage]]] = {
            "`blender-dp --version`": (0.25, lambda: run_script("blender-dp", "--version")),
            "`import blender_dp`": (0.35, lambda: run_python("-c", "import blender_dp")),
            f"`run` on {ROWS:,} rows": (1.0, lambda: run_script("blender-dp", *run)),
        }
        goals = [
            Goal(
                what=what,
                measured=least([program() for _ in range(REPEATS + 1)]).cpu_seconds,
                unit="s of CPU",
                at_most=most,
                why=WHY.get(what, ""),
            )
            for what, (most, program) in programs.items()
        ]
    keep_rows("start", "python -m benchmarks.start", goals)
    lines = [f"| {goal.what} | {goal.measured:.2f} | {goal.at_most} |" for goal in goals]
    return "\n".join(["## Start\n", "| what | CPU s | goal |", "|---|---|---|", *lines])


if __name__ == "__main__":
    print(table())
