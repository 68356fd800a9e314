"""Speed of parts that have no goal: ``python -m benchmarks.parts`` writes ``results.md``."""

from pathlib import Path

from benchmarks import local_search, noise, presets
from benchmarks.measure import made_by

RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    """Measure, print and write."""
    parts = ["# Speed of parts that have no goal\n", made_by("make bench AREAS=parts")]
    parts.append("What has a goal is in [README.md](README.md).\n")
    for without in (local_search, noise, presets):
        parts.append(without.table() + "\n")
        print(parts[-1], flush=True)
    RESULTS.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
