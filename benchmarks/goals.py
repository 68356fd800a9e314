"""Goals and figures: every benchmark writes its rows, and ``README.md`` shows all of them.

A benchmark calls :func:`keep_rows` with its area. The rows are kept in a file of ``rows``, so a
benchmark that runs alone leaves the rows of the others as they are. ``python -m benchmarks.goals``
only writes the page anew.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROWS = Path(__file__).parent / "rows"
PAGE = Path(__file__).parent / "README.md"
_HEADER = """# Speed: goals and figures

`make bench` measures all of it again, `make bench AREAS="run start"` a part; `benchmarks/goals.py`
puts the page together from `rows/*.json`. A ratio compares two programs that ran in turns on the
same machine. A goal that is not met says why below its table.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One figure with its goal: exactly one of ``at_most`` and ``at_least``."""

    what: str
    measured: float
    unit: str = "times"
    at_most: float | None = None
    at_least: float | None = None
    why: str = ""
    """Why it is not met, with the part that costs most."""

    @property
    def is_met(self) -> bool:
        """Whether the figure, as it is shown, reaches its goal."""
        shown = float(f"{self.measured:.2f}")
        if self.at_most is not None:
            return shown <= self.at_most
        return self.at_least is not None and shown >= self.at_least


def keep_rows(area: str, command: str, goals: Sequence[Goal]) -> None:
    """Keep the rows of one area, in place of its last ones, and write the page.

    Args:
        area: Title of the section, such as ``run``; its file is named by it.
        command: The command that measures them again.
        goals: The rows.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kept = {
        "area": area,
        "command": command,
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GB",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "rows": [asdict(goal) for goal in goals],
    }
    ROWS.mkdir(exist_ok=True)
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    name = area.replace(",", "").replace(" ", "-")
    (ROWS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page of all areas."""
    sections = (
        _section(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(ROWS.glob("*"))
    )
    return "\n".join([_HEADER, *("\n".join(section) for section in sections)])


def _section(kept: dict[str, Any]) -> Iterator[str]:
    goals = [Goal(**row) for row in kept["rows"]]
    source = f"{kept['machine']} | {kept['date']} | `{kept['command']}` |"
    yield f"## {kept['area']}\n"
    yield "| what | measured | goal | met | machine | date | command |"
    yield "|---|---|---|---|---|---|---|"
    for goal in goals:
        met = "yes" if goal.is_met else "**no**"
        yield f"| {goal.what} | {goal.measured:.2f} {goal.unit} | {_bound(goal)} | {met} | {source}"
    yield ""
    for reason, missed in _reasons(goals).items():
        yield f"- {'; '.join(missed)}: {reason}"
    yield ""


def _reasons(goals: Sequence[Goal]) -> dict[str, list[str]]:
    """Return the goals that are missed by the reason for it."""
    reasons: dict[str, list[str]] = {}
    for goal in goals:
        if not goal.is_met:
            reasons.setdefault(goal.why or "not examined yet.", []).append(goal.what)
    return reasons


def _bound(goal: Goal) -> str:
    if goal.at_most is not None:
        return f"at most {goal.at_most:g}"
    return f"at least {goal.at_least:g}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
