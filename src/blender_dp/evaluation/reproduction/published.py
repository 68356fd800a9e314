"""Statements of the paper's text and tables, read from ``reproduction/published.json``."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).with_suffix(".json")
_IN_THE_REPOSITORY = Path(__file__).parents[4] / "reproduction" / "published.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Place of a statement in a figure: a point, or a horizontal or vertical line."""

    panel: int
    label: str
    x: float | None = None
    y: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of the paper about its data sets."""

    id: str
    shapes: tuple[str, ...]
    """Data sets that the statement is about."""
    says: str
    where: str
    read: str
    """How the statement was read from the paper."""
    mark: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """Everything that the paper states about one figure."""

    figure: int
    name: str
    label: str
    """Label of the figure in the paper's source."""
    statements: tuple[Statement, ...]
    table: Any = field(default=None)

    def statement(self, name: str) -> Statement:
        """Return the statement of this id."""
        return next(statement for statement in self.statements if statement.id == name)


def published_file() -> Path:
    """Return the file's path: in the installed package, or else in the repository."""
    return _HERE if _HERE.is_file() else _IN_THE_REPOSITORY


@cache
def published() -> dict[int, PublishedFigure]:
    """Return the statements by the number of their figure."""
    documents = json.loads(published_file().read_text(encoding="utf-8"))
    return {document["figure"]: _figure(**document) for document in documents}


def _figure(*, statements: list[dict[str, Any]], **rest: Any) -> PublishedFigure:  # noqa: ANN401 - JSON
    return PublishedFigure(
        **rest, statements=tuple(_statement(**statement) for statement in statements)
    )


def _statement(*, shapes: list[str], mark: dict[str, Any] | None = None, **rest: str) -> Statement:
    return Statement(shapes=tuple(shapes), mark=Mark(**mark) if mark else None, **rest)
