"""Time of the whole suite: ``make test``, with everything already installed."""

import os
import subprocess
import time
from pathlib import Path

from benchmarks.goals import Goal, keep_rows

_ROOT = Path(__file__).parent.parent
_WHY = (
    "some 1,200 s of CPU, which are 10 minutes of two cores with nothing beside them: tests end to "
    "end take 153, on Spark 137, of the service 107, the command line 96, core 76, extension 62, "
    "statistical tests 49, dashboard 41, vitest 41, the Python client 38, planning 36, and "
    "nineteen other folders the rest; collecting 9,000 tests takes each of four processes 8. Both "
    "cores are busy to the end, so only less work would help: what is left are real kills, "
    "browsers, Spark's start and its jobs, and the commands of the documented pages. `make "
    "slowest` prints this."
)


def main() -> None:
    """Run the suite and keep the row of its goal.

    Raises:
        CalledProcessError: A test failed.
    """
    load, began = os.getloadavg()[0], time.perf_counter()
    subprocess.run(["make", "test"], cwd=_ROOT, check=True, stdin=subprocess.DEVNULL)
    goal = Goal(
        what=f"`make test` (load {load:.0f} before)",
        measured=(time.perf_counter() - began) / 60,
        unit="minutes",
        at_most=10,
        why=_WHY,
    )
    keep_rows("the suite", "python -m benchmarks.suite", [goal])


if __name__ == "__main__":
    main()
