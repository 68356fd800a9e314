"""Facts about a deployment that only the organisation knows: name, purpose, reasons."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.core.head_list.visible_names import visible

CuratorType = Literal["Government", "Industry", "Nonprofit"]
Sector = Literal["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]
MOST_LETTERS = 10_000
_CHOICES: dict[str, tuple[str, ...]] = {
    "curator_type": get_args(CuratorType),
    "sector": get_args(Sector),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Answers of the organisation that published a result; None where it has not answered yet."""

    name: str | None = None
    """Name of the published result."""
    curator: str | None = None
    """Organisation that publishes it."""
    curator_type: CuratorType | None = None
    """Government, Industry or Nonprofit."""
    intended_use: str | None = None
    """What the result is for."""
    region: str | None = None
    """Where the users live, or whose laws apply."""
    sector: Sector | None = None
    """Technology, Healthcare, Education, Government, Energy or Finance."""
    description: str | None = None
    """What is published; a sentence with its numbers if left out."""
    preprocessing: str | None = None
    """What was done with the data before, and how ε and the other parameters were chosen."""
    security: str | None = None
    """How raw records are protected, and who may read them."""
    justification: str | None = None
    """Why these parameters, these mechanisms and this trust."""
    plans: str | None = None
    """Whether more results from the same people are planned."""
    authors: Sequence[str] = ()
    """People who write the record."""
    source_title: str | None = None
    """Title of a page or a paper about the deployment."""
    source_url: str | None = None
    """Address of that page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "authors", tuple(self.authors))
        for field in fields(self):
            given = getattr(self, field.name)
            for text in given if field.name == "authors" else (given,):
                if text is not None:
                    _require_text(field.name, text)

    @property
    def unanswered(self) -> list[str]:
        """Return the names of the fields without an answer; a description is made from numbers."""
        return [
            field.name
            for field in fields(self)
            if field.name != "description" and not getattr(self, field.name)
        ]


def read_deployment(path: Path) -> Deployment:
    """Read the answers from a TOML file with one line per field."""
    try:
        answers: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, 'must be TOML, with lines such as name = "…"') from error
    names = [field.name for field in fields(Deployment)]
    for name in answers:
        if name not in names:
            rule = f"must have no fields but {', '.join(names)}"
            raise InputError(path, rule, where=f"field {name}" if name.isidentifier() else None)
    if not isinstance(answers.get("authors", []), list):
        raise InputError(path, "must be a list of names", where="field authors")
    try:
        return Deployment(**answers)
    except ParameterError as error:
        raise InputError(path, str(error)) from error


def _require_text(name: str, text: object) -> None:
    """Refuse what is not a readable text, or not one of the registry's choices."""
    if name in _CHOICES and text not in _CHOICES[name]:
        raise ParameterError(name, f"one of {', '.join(_CHOICES[name])}", text)
    is_readable = isinstance(text, str) and 0 < len(text) <= MOST_LETTERS
    if not is_readable or any(visible(line) != line for line in str(text).split("\n")):
        rule = f"a text of 1 to {MOST_LETTERS:,} letters without invisible signs"
        raise ParameterError(name, rule, text)
