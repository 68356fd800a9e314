"""Run the benchmarks of speed and memory: ``make bench``, or some with ``make bench AREAS=...``.

Each area runs in a process of its own, because a child's peak memory counts what its parent held.
It writes its rows of ``README.md``, so the rows of the others stay as they are.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

AREAS: dict[str, tuple[int, Sequence[str]]] = {
    "start": (1, ["benchmarks.start"]),
    "devices": (2, ["benchmarks.devices"]),
    "browser": (1, ["benchmarks.browser.list_ready"]),
    "run": (15, ["benchmarks.counting"]),
    "tokens": (2, ["benchmarks.tokens"]),
    "ids": (3, ["benchmarks.service.growth"]),
    "service": (10, ["benchmarks.service"]),
    "parts": (3, ["benchmarks.parts"]),
    "suite": (15, ["benchmarks.suite"]),
    "spark": (60, ["benchmarks.spark", "1e6", "1e7", "1e8"]),
    "evaluation": (60, ["benchmarks.evaluation", "aol", "yandex"]),
}
"""By name: about how many minutes an area takes on two quiet cores, its module and arguments."""


def main(*names: str) -> None:
    """Measure these areas, or all of them, in turn.

    Raises:
        SystemExit: A name is none of an area, a tool is missing, or an area failed.
    """
    unknown = sorted(set(names) - set(AREAS))
    if unknown:
        raise SystemExit(f"AREAS must be of {', '.join(AREAS)}; got {', '.join(unknown)}")
    chosen = names or tuple(AREAS)
    if "service" in chosen and shutil.which("wrk") is None:
        raise SystemExit("The load is made by wrk; on Debian: apt-get install wrk")
    for name in chosen:
        minutes, command = AREAS[name]
        print(f"Measuring {name}, about {minutes} minutes ...", flush=True)
        began = time.monotonic()
        if subprocess.run([sys.executable, "-m", *command], check=False).returncode:
            raise SystemExit(f"{name} failed; what was measured before it is kept")
        print(f"Measured {name} in {(time.monotonic() - began) / 60:.1f} minutes.", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
