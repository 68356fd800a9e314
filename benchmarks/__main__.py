"""Run every benchmark and write ``results.md``: ``make bench``."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import counting, devices, noise

RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    """Measure, print and write."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [
        "# Benchmarks\n",
        f"Made by `make bench` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, Python {platform.python_version()}.\n",
    ]
    for benchmark in (devices, noise, counting):
        parts.append(benchmark.table() + "\n")
        print(parts[-1], flush=True)
    RESULTS.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
