"""Run every benchmark: ``make bench``. Those with a goal write their rows of ``README.md``.

The others have a table each in ``results.md``.
"""

from pathlib import Path

from benchmarks import counting, devices, evaluation, local_search, noise, presets, start
from benchmarks.browser import list_ready
from benchmarks.measure import made_by

RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    """Measure, print and write."""
    for with_goal in (devices, list_ready, counting, start, evaluation):
        print(with_goal.table() + "\n", flush=True)
    parts = ["# Speed of parts that have no goal\n", made_by("make bench")]
    parts.append("What has a goal is in [README.md](README.md).\n")
    for without in (local_search, noise, presets):
        parts.append(without.table() + "\n")
        print(parts[-1], flush=True)
    RESULTS.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
