"""Time of the whole suite: ``make test``, with everything already installed."""

import os
import subprocess
import time
from pathlib import Path

from benchmarks.goals import Goal, keep_rows

_ROOT = Path(__file__).parent.parent
_WHY = (
    "of some 1,320 s of CPU, which are 11 minutes of two cores, contracts take 205 (nearly all on "
    "Spark), tests end to end 184, the command line 131, the service 131, engines 106 (65 on "
    "Spark), core 82, dashboard 70, extension 65, statistical tests 52, vitest 45, the Python "
    "client 49, planning 46, and eighteen other folders the rest. Beside that, workers wait for "
    "services, browsers and kills. `make slowest` prints this."
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
