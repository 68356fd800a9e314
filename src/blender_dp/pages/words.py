"""Words of a reader for a result: nouns for query and URL, and a title."""

from dataclasses import dataclass, fields, replace
from typing import Any

from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import Release
from blender_dp.core.head_list.visible_names import visible

MOST_LETTERS = {"query_name": 40, "url_name": 40, "title": 200}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a result is called in tables and pages; None keeps the usual word."""

    query_name: str | None = None
    """Name of a query in tables and pages, such as product."""
    url_name: str | None = None
    """Name of a URL in tables and pages, such as state."""
    title: str | None = None
    """Title of the report."""

    def __post_init__(self) -> None:
        for field in fields(self):
            text, most = getattr(self, field.name), MOST_LETTERS[field.name]
            if text is not None and not (0 < len(text) <= most and visible(text) == text):
                rule = f"1 to {most} letters without invisible signs"
                raise ParameterError(field.name, rule, text)

    def or_those_of(self, release: Release) -> "Words":
        """Return these words; where one was not given, that of the release."""
        return replace(
            self,
            query_name=self.query_name or release.query_name,
            url_name=self.url_name or release.url_name,
        )

    def facts(self) -> dict[str, Any]:
        """Return the part of run.json that holds them; empty if all are the usual ones."""
        names = {"query": self.query_name, "url": self.url_name}
        given = {} if set(names.values()) == {None} else {"names": names}
        return given if self.title is None else given | {"title": self.title}
