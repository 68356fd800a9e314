"""Time of the evaluation: 10⁹ users imagined, and with names of shapes the paper's whole sets.

``python -m benchmarks.evaluation`` imagines; ``python -m benchmarks.evaluation aol yandex`` also
makes every figure of both shapes, which takes about an hour.
"""

import sys
import tempfile
from collections.abc import Iterable

from benchmarks.counting import least
from benchmarks.goals import Goal, keep_rows
from benchmarks.measure import run_script

_IMAGINED = ["evaluate", "--users", "1e9", "--epsilon", "4", "--delta", "1e-6"]
_MOST_MINUTES = {"aol": 20.0, "yandex": 60.0}
_COMMAND = "python -m benchmarks.evaluation"


def table() -> str:
    """Return the time of 10⁹ imagined users as Markdown; keep its row."""
    used = least([run_script("blender-dp", *_IMAGINED) for _ in range(2)])
    goal = Goal(
        what=f"`blender-dp {' '.join(_IMAGINED)}`: 10⁹ users imagined three times",
        measured=used.cpu_seconds,
        unit="s of CPU",
        at_most=10,
    )
    keep_rows("evaluation, imagined users", _COMMAND, [goal])
    return f"## 10⁹ users imagined\n\n{used.cpu_seconds:.1f} s of CPU; goal: at most 10"


def reproduce(shapes: Iterable[str]) -> None:
    """Make every figure of these shapes, and keep the rows."""
    for shape in shapes:
        with tempfile.TemporaryDirectory() as directory:
            used = run_script("blender-dp", "reproduce", "--shape", shape, "-o", directory)
        goal = Goal(
            what=f"All figures of the shape {shape} ({used.cpu_seconds / 60:.0f} minutes of CPU)",
            measured=used.wall_seconds / 60,
            unit="minutes",
            at_most=_MOST_MINUTES[shape],
        )
        keep_rows(f"evaluation, {shape}", f"{_COMMAND} {shape}", [goal])


if __name__ == "__main__":
    print(table())
    reproduce(sys.argv[1:])
