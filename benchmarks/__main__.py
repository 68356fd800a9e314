"""Run every benchmark; write ``results.md`` and the goals of ``README.md``: ``make bench``."""

from pathlib import Path

from benchmarks import counting, devices, local_search, noise, presets, start
from benchmarks.browser import list_ready
from benchmarks.measure import made_by

RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    """Measure, print and write."""
    parts = ["# Benchmarks\n", made_by("make bench") + "\n"]
    for benchmark in (devices, list_ready, local_search, noise, counting, start, presets):
        parts.append(benchmark.table() + "\n")
        print(parts[-1], flush=True)
    RESULTS.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
