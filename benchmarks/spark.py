"""Cost of a run on Spark, compared with plain Spark SQL, on a cluster of separate processes.

``make spark`` writes ``spark.md`` and keeps the rows of goals. Processor seconds are those of every
process: the driver's Python and JVM, and the executors. Tasks, bytes and shuffles come from Spark's
own event log.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.goals import Goal, keep_rows
from benchmarks.measure import made_by
from benchmarks.spark_costs import Processes, Tasks, heap_after_collection, tasks_of
from benchmarks.spark_log import ROWS_A_USER, spark_log
from spark_cluster import Cluster, standalone_cluster
from spark_sessions import START_QUICKLY

PROMISE = [
    "--preset",
    "paper",
    "--epsilon",
    "4",
    "--delta",
    "1e-5",
    "--yes",
    "--head-list-size",
    "50",
]
OURS = "blender-dp run"
PEERS = {"plain Spark SQL": "min_by", "plain Spark SQL, two scans": "two scans"}
"""What else is measured, by the form in which it samples."""
GOAL_ROWS, MOST_CPU, MOST_GROWTH = 10_000_000, 1.3, 1.1
"""From how many rows there is a goal; its times of a peer's CPU; of the driver's memory."""
WHY = (
    "a run sends every row to the partition of its user and sorts there, because a sample depends "
    "on its user only: 15 bytes a row; the peer in one scan sends at most a row per user and "
    "partition. At 100,000,000 rows the tasks of both take the same, 259 and 256 s. The rest is "
    "spent by the JVMs outside of tasks: 201 s of a run, 42 s of that peer, and 330 s of the peer "
    "in two scans, which joins with the drawn rows as a run does."
)
_HEADS = (
    *("rows", "executors", "program", "CPU s", "of it in tasks", "log MB", "shuffled MB"),
    *("shuffles", "that grow", "returned kB", "driver: Python MB", "JVM heap MB"),
)
_TEXT = """# A run on Spark, measured

{made_by}

The same Parquet log, {rows_a_user} rows per user, on a standalone cluster of separate processes on
loopback, each executor with one core and 3 GB. Plain Spark SQL samples one record per user, counts
the pairs, ranks fifty queries and counts the sample by their cells, without any privacy: in the
form that a person writes first (`min_by`), and in the form that a run has too, two scans.

{costs}

CPU s: every process from start to end, the driver's Python and JVM and the executors. Shuffles:
stages that wrote for others; those that grow wrote more than a byte a user. JVM heap: the most
that was left after a collection of garbage; Python: the most that was resident.

## By the row

A program that only starts costs many seconds, whatever the log. By the difference of two sizes,
what a row costs with one executor, and how many times that of each program a run costs:

{by_row}

## By the user

The four largest shuffles of a run, and what all tasks returned to the driver, in bytes per user:

{by_user}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one program cost on one log."""

    rows: int
    executors: int
    program: str
    cpu_seconds: float
    tasks: Tasks
    python_mb: float
    heap_mb: int

    def cells(self) -> Iterator[str]:
        """Give the values of a line of the table."""
        tasks, users = self.tasks, self.rows / ROWS_A_USER
        yield from (f"{self.rows:,}", str(self.executors), self.program)
        yield from (f"{self.cpu_seconds:.1f}", f"{tasks.cpu_seconds:.1f}")
        yield f"{spark_log(self.rows).stat().st_size / 1e6:.1f}"
        yield f"{sum(tasks.shuffled_bytes) / 1e6:.2f}"
        yield str(len(tasks.shuffled_bytes))
        yield str(sum(size > users for size in tasks.shuffled_bytes))
        yield from (f"{tasks.returned_bytes / 1e3:.0f}", f"{self.python_mb:.0f}")
        yield str(self.heap_mb)


def measured(program: str, rows: int, cluster: Cluster, folder: Path) -> Cost:
    """Run a program on the cluster, watch its processes and read its event log."""
    workers = [
        process.pid for name, process in cluster.processes.items() if name.startswith("worker")
    ]
    processes = Processes(workers)
    events = folder / "events"
    events.mkdir(parents=True)
    command = [sys.executable, *_arguments(program, spark_log(rows), cluster.url, folder)]
    with (folder / "complaints.txt").open("wb") as complaints:
        child = subprocess.Popen(
            command, env=_environment(cluster.url, folder), stdout=complaints, stderr=complaints
        )
        processes.watch(child)
    if child.returncode:
        raise SystemExit(f"{program} failed:\n{(folder / 'complaints.txt').read_text()}")
    [event_log] = events.iterdir()
    return Cost(
        rows=rows,
        executors=len(workers),
        program=program,
        cpu_seconds=sum(processes.cpu_seconds.values()),
        tasks=tasks_of(event_log),
        python_mb=processes.python_bytes / 2**20,
        heap_mb=heap_after_collection(list(folder.glob("gc-*.log"))),
    )


def _arguments(program: str, log: Path, master: str, folder: Path) -> list[str]:
    if program in PEERS:
        return ["-m", "benchmarks.plain_spark", str(log), PEERS[program]]
    run = ["-m", "blender_dp.cli", "run", str(log), "-o", str(folder / "out"), *PROMISE]
    return [*run, "--opt-in", "0.05", "--engine", "spark", "--master", master]


def _environment(master: str, folder: Path) -> dict[str, str]:
    settings = {
        "spark.master": master,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.executor.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "16",
    }
    words = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    return {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"{words} pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
        # The driver's; the executors have Java's defaults. What it only starts and plans with
        # would otherwise hide what is measured.
        "JDK_JAVA_OPTIONS": f"{START_QUICKLY} -Xlog:gc:file={folder}/gc-%p.log",
    }


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def by_row(costs: Sequence[Cost]) -> str:
    """Return the table of what a row costs, and how many times that of each peer a run is."""
    few, many = (
        {cost.program: cost for cost in costs if cost.executors == 1 and cost.rows == rows}
        for rows in _smallest_and_largest(costs)
    )
    spent = {program: _microseconds(few[program], many[program]) for program in (*PEERS, OURS)}
    lines = [
        [
            program,
            *(f"{of:.2f}" for of in pair),
            *(f"{o / p:.2f}" for o, p in zip(spent[OURS], pair, strict=True)),
        ]
        for program, pair in spent.items()
    ]
    heads = ("program", "µs a row", "of it in tasks", f"{OURS}, times", "in tasks")
    return table(heads, lines)


def by_user(costs: Sequence[Cost]) -> str:
    """Return the table of what a run sends over the network for each user."""
    lines = []
    for cost in (cost for cost in costs if cost.program == OURS):
        users = cost.rows / ROWS_A_USER
        sent = [*cost.tasks.shuffled_bytes[:4], cost.tasks.returned_bytes]
        amounts = (f"{size / users:.1f}" for size in sent)
        lines.append([f"{users:,.0f}", str(cost.executors), *amounts])
    heads = ("users", "executors", "first", "second", "third", "fourth", "returned")
    return table(heads, lines)


def _smallest_and_largest(costs: Sequence[Cost]) -> tuple[int, int]:
    rows = [cost.rows for cost in costs]
    return min(rows), max(rows)


def _microseconds(few: Cost, many: Cost) -> tuple[float, float]:
    rows = (many.rows - few.rows) / 1e6
    return (
        (many.cpu_seconds - few.cpu_seconds) / rows,
        (many.tasks.cpu_seconds - few.tasks.cpu_seconds) / rows,
    )


def goals_by_area(costs: Sequence[Cost]) -> Iterator[tuple[str, list[Goal]]]:
    """Give the rows of goals: of each size with one executor, and of the driver's memory."""
    ours = [cost for cost in costs if cost.program == OURS and cost.executors == 1]
    large = [cost for cost in ours if cost.rows >= GOAL_ROWS]
    spent = {(cost.rows, cost.program): cost.cpu_seconds for cost in costs if cost.executors == 1}
    for cost in large:
        yield (
            f"run on Spark, {cost.rows:,} rows",
            [
                Goal(
                    what=f"`run`, `paper`, against {peer}: CPU ({cost.cpu_seconds:.1f} s)",
                    measured=cost.cpu_seconds / spent[cost.rows, peer],
                    at_most=MOST_CPU,
                    why=WHY,
                )
                for peer in PEERS
            ],
        )
    for few, many in pairwise(large):
        held = {
            "Python": (few.python_mb, many.python_mb),
            "JVM, after a collection of garbage": (few.heap_mb, many.heap_mb),
        }
        yield (
            "run on Spark, memory of the driver",
            [
                Goal(
                    what=f"{of}: {many.rows:,} rows ({last:.0f} MB) against {few.rows:,}",
                    measured=last / first,
                    at_most=MOST_GROWTH,
                )
                for of, (first, last) in held.items()
            ],
        )


def _costs(sizes: Sequence[int]) -> Iterator[Cost]:
    not_long = [rows for rows in sizes if rows <= GOAL_ROWS]
    for executors, wanted in ((1, sizes), (2, not_long[-1:])):
        with (
            tempfile.TemporaryDirectory() as directory,
            standalone_cluster(Path(directory), workers=executors, memory="3g") as cluster,
        ):
            for rows in wanted:
                for number, program in enumerate((*PEERS, OURS)):
                    folder = Path(directory) / f"{rows}-{number}"
                    yield measured(program, rows, cluster, folder)


def page(costs: Sequence[Cost], sizes: Sequence[str]) -> str:
    """Return everything as a page."""
    return _TEXT.format(
        made_by=made_by(_command(sizes)),
        rows_a_user=ROWS_A_USER,
        costs=table(_HEADS, [list(cost.cells()) for cost in costs]),
        by_row=by_row(costs) if len(sizes) > 1 else "Only one size was measured.",
        by_user=by_user(costs),
    )


def _command(sizes: Sequence[str]) -> str:
    return f"make spark ROWS='{' '.join(sizes)}'"


def main(*sizes: str) -> None:
    """Measure every program by rows and executors, and write what was found."""
    costs = []
    for cost in _costs([int(float(size)) for size in sizes]):
        print(" | ".join(cost.cells()), flush=True)
        costs.append(cost)
    for area, goals in goals_by_area(costs):
        keep_rows(area, _command(sizes), goals)
    Path(__file__).with_suffix(".md").write_text(page(costs, sizes), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
