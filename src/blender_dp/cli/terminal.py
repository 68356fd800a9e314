"""Terminal output: results on standard output, progress on standard error."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from blender_dp.core.head_list.visible_names import visible

if TYPE_CHECKING:
    import pyarrow as pa


class PlainConsole(Console):
    """Console that prints texts unchanged, without markup or emoji."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Raise: the command line handles a reader that closes the pipe."""
        raise BrokenPipeError


RESULTS = PlainConsole()
PROGRESS = PlainConsole(stderr=True)


class StepProgress:
    """One line per step with a bar; silent if standard error is not a terminal."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._current: Any = None

    def step(self, name: str) -> None:
        """Finish the last step and begin ``name``."""
        self.finish()
        self._current = self._bars.add_task(name, total=None)

    def percent(self, percent: float) -> None:
        """Show the progress of the current step, from 0 to 100."""
        if self._current is not None and percent >= 0:
            self._bars.update(self._current, total=100, completed=percent)

    def share(self, share: float) -> None:
        """Show the progress of the current step, from 0 to 1."""
        self.percent(100 * share)

    def finish(self) -> None:
        """Fill the bar of the last step."""
        if self._current is not None:
            self._bars.update(self._current, total=100, completed=100)


@contextmanager
def shown_progress(*, time_left: bool = False) -> Iterator[StepProgress]:
    """Show steps while they run, and leave the finished ones on the screen.

    Args:
        time_left: Whether to show the remaining time of the current step; for long steps.
    """
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
    if time_left:
        columns += [TextColumn("left:"), TimeRemainingColumn()]
    with Progress(*columns, console=PROGRESS, disable=not PROGRESS.is_terminal) as bars:
        progress = StepProgress(bars)
        yield progress
        progress.finish()


def say(sentence: str) -> None:
    """Print a message that is not part of the result."""
    sys.stderr.write(f"{sentence}\n")


def print_json(document: Mapping[str, Any]) -> None:
    """Print a result that a program will read."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def print_ranking(queries: "pa.Table", users: int, noun: str = "query", most: int = 10) -> None:
    """Print the most popular queries with their intervals and estimated counts of users."""
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column(noun, overflow="ellipsis", max_width=40, no_wrap=True)
    has_relay = "relay_probability" in queries.column_names
    relay = ["relay"] if has_relay else []
    for heading in ("probability", "95 % interval", "count", "opt-in", *relay, "clients"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = [row for row in queries.slice(0, most + 1).to_pylist() if row["cell"] == "query"]
    for row in rows[:most]:
        table.add_row(
            visible(row["query"]),
            percent(row["probability"]) + ("" if 0 <= row["opt_in_weight"] <= 1 else " !"),
            "none" if row["low"] is None else f"{row['low']:.3%} to {row['high']:.3%}",
            f"{row['probability'] * users:,.0f}",
            percent(row["opt_in_probability"]),
            *([percent(row["relay_probability"])] if has_relay else []),
            percent(row["client_probability"]),
        )
    if rows:
        RESULTS.print(table)
    rest = next(row for row in queries.to_pylist() if row["cell"] == "other")
    unseen = queries.num_rows - 1 - len(rows[:most])
    RESULTS.print(
        f"… and {unseen} more; everything else: {percent(rest['probability'])}"
        if unseen
        else f"everything else: {percent(rest['probability'])}"
    )


def percent(value: float | None) -> str:
    """Write a probability."""
    return "–" if value is None else f"{value:.3%}"
