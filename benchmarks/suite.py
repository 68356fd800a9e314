"""Time of the whole suite: ``make test``, with everything already installed."""

import os
import subprocess
import time
from pathlib import Path

from benchmarks.goals import Goal, keep_rows

_ROOT = Path(__file__).parent.parent
_WHY = "`make slowest` prints the CPU of every folder and of the slowest tests."


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
