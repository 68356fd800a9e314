"""Statements of the paper's text and tables, read from ``reproduction/published``."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent / "published"
_IN_THE_REPOSITORY = Path(__file__).parents[4] / "reproduction" / "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a statement shows in a figure: a point, or a line across or upright."""

    panel: int
    label: str
    x: float | None = None
    y: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that the paper says of its data sets."""

    id: str
    shapes: tuple[str, ...]
    """Of which of its data sets."""
    says: str
    where: str
    read: str
    """How it was read."""
    mark: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """All that is known of one figure without its picture."""

    figure: int
    label: str
    """Of the figure in the paper's source."""
    statements: tuple[Statement, ...]
    table: Any = field(default=None)

    def statement(self, name: str) -> Statement:
        """Return the statement of this id."""
        return next(statement for statement in self.statements if statement.id == name)


def published_folder() -> Path:
    """Return where the files are: in the package once installed, in the repository before."""
    return _HERE if _HERE.is_dir() else _IN_THE_REPOSITORY


@cache
def published() -> dict[int, PublishedFigure]:
    """Return what is stated, by the number of the figure."""
    figures = [_figure(path) for path in sorted(published_folder().glob("*.json"))]
    return {figure.figure: figure for figure in figures}


def _figure(path: Path) -> PublishedFigure:
    document = json.loads(path.read_text(encoding="utf-8"))
    statements = tuple(_statement(**statement) for statement in document.pop("statements"))
    return PublishedFigure(**document, statements=statements)


def _statement(*, shapes: list[str], mark: dict[str, Any] | None = None, **rest: str) -> Statement:
    return Statement(shapes=tuple(shapes), mark=Mark(**mark) if mark else None, **rest)
