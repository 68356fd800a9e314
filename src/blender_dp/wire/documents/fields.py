"""Fields of a document, each read with a rule.

An error names the file, the field and the rule, never the value: it may be a user's query.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from blender_dp.core.errors import InputError
from blender_dp.core.head_list.cells import IntArray

LARGEST = 2**62
"""Limit of a count: sums of larger counts would not fit 64 bits."""
_DECIMAL = re.compile(r"-?\d{1,20}(\.\d{1,30})?(e[-+]?\d{1,3})?")


class Fields:
    """Fields of a file, at its top level or inside the field ``within``."""

    def __init__(self, path: Path | str, values: object, within: str | None = None) -> None:
        self.path, self._within = path, within
        if not isinstance(values, Mapping):
            self.refuse(within or "", "must be an object with fields")
        self._values: Mapping[str, Any] = values

    def refuse(self, name: str, rule: str) -> NoReturn:
        """Raise the error for a field."""
        if self._within is None:
            raise InputError(self.path, rule, where=f"field {name}")
        raise InputError(self.path, f"{name} {rule}", where=f"field {self._within}")

    def only(self, *names: str) -> None:
        """Refuse any other field."""
        if set(self._values) - set(names):
            what = f"must have no fields but {', '.join(names)}"
            self.refuse("its object" if self._within else "at the top", what)

    def has(self, name: str) -> bool:
        """Tell whether a field is present."""
        return name in self._values

    def value(self, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return the value of a required field."""
        if name not in self._values:
            self.refuse(name, "is missing")
        return self._values[name]

    def names(self, name: str, expected: str) -> bool:
        """Tell whether a field is present and has this text."""
        return bool(self._values.get(name) == expected)

    def text(self, name: str) -> str:
        """Return a string."""
        value = self.value(name)
        if not isinstance(value, str):
            self.refuse(name, "must be a text")
        return value

    def name_or_none(self, name: str) -> str | None:
        """Return a string of whole characters, or null."""
        value = None if self.value(name) is None else self.text(name)
        if value is not None and any("\ud800" <= c <= "\udfff" for c in value):
            self.refuse(name, "must be whole characters, not half of a surrogate pair")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.value(name)
        if not isinstance(value, bool):
            self.refuse(name, "must be true or false")
        return value

    def whole(self, name: str, *, at_least: int) -> int:
        """Return a whole number."""
        value = self.value(name)
        if type(value) is not int or not at_least <= value <= LARGEST:
            self.refuse(name, f"must be a whole number, at least {at_least}")
        return value

    def whole_or_none(self, name: str, *, at_least: int) -> int | None:
        """Return a whole number or null."""
        return None if self.value(name) is None else self.whole(name, at_least=at_least)

    def decimal(self, name: str) -> float:
        """Return a number that is written as a decimal string."""
        value = self.value(name)
        if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
            self.refuse(name, "must be a number written as a text, such as 4.0 or 1e-05")
        return float(value)

    def number(self, name: str, *, least: float = -LARGEST, most: float = LARGEST) -> float:
        """Return a finite number."""
        value = self.value(name)
        if type(value) not in (int, float) or not least <= value <= most:
            limits = "" if least == -LARGEST else f" from {least:g}"
            limits += "" if most == LARGEST else f" up to {most:g}"
            self.refuse(name, f"must be a number{limits}")
        return float(value)

    def number_or_none(
        self, name: str, *, least: float = -LARGEST, most: float = LARGEST
    ) -> float | None:
        """Return a number or null."""
        return None if self.value(name) is None else self.number(name, least=least, most=most)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings."""
        return tuple(self._list(name, str, "texts"))

    def counts(self, name: str, length: int) -> IntArray:
        """Return a list of whole numbers of this length."""
        values = self._list(name, int, "whole numbers")
        sizes = [abs(value) for value in values]
        if len(values) != length or any(type(value) is not int for value in values):
            self.refuse(name, f"must be a list of {length} whole numbers")
        if sum(sizes) > LARGEST:
            self.refuse(name, "must have a sum that fits 64 bits")
        return np.array(values, dtype=np.int64)

    def part(self, name: str) -> "Fields":
        """Return the fields of an object inside this one."""
        return Fields(self.path, self.value(name), within=name)

    def parts(self, name: str) -> "list[Fields]":
        """Return the fields of each object of a list."""
        return [Fields(self.path, item, within=name) for item in self._list(name, dict, "objects")]

    def _list(self, name: str, kind: type, plural: str) -> Sequence[Any]:
        value = self.value(name)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            self.refuse(name, f"must be a list of {plural}")
        return value
