"""HTML pages that open offline.

A page makes no request: style, script and figures are in it. Its Content-Security-Policy allows
only one style sheet and one script, by their hashes. Queries and URLs are user input, so they enter
the page only as escaped JSON, and the script inserts them only as text.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

_SHARED_SCRIPTS = tuple(
    f"shared/{name}.js"
    for name in (
        *("elements", "numbers", "visible", "nouns", "cells", "table_rows", "tooltip"),
        *("series", "presets", "weights", "groups", "changes", "promises", "plane", "theme"),
    )
)
"""Scripts of every page, which run before its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Files of a page, below ``assets``; its figures are added later."""

    name: str
    """One word, also the name of its folder; ``name.html`` there is the middle of the page."""
    sections: tuple[str, ...]
    """Sections in the navigation at the top; their ids are in lower case."""
    style_sheets: tuple[str, ...]
    scripts: tuple[str, ...]
    """Names of its scripts without suffix; they run in this order, after the shared ones."""

    @property
    def _content(self) -> str:
        return f"{self.name}/{self.name}.html"

    @property
    def _scripts(self) -> tuple[str, ...]:
        return (*_SHARED_SCRIPTS, *(f"{self.name}/{name}.js" for name in self.scripts))

    @property
    def assets(self) -> frozenset[str]:
        """All files that the page needs."""
        return frozenset((_SHELL, self._content, *self.style_sheets, *self._scripts))

    def with_figures(self, figures: Mapping[str, Any]) -> str:
        """Return the page that shows ``figures``."""
        style = "".join(map(_asset, self.style_sheets))
        script = _in_one_function("".join(_without_module_lines(_asset(n)) for n in self._scripts))
        return Template(_asset(_SHELL)).substitute(
            policy=_content_security_policy(style, script),
            name=self.name,
            sections="\n".join(
                f'      <a href="#{section.lower()}">{section}</a>' for section in self.sections
            ),
            style=style,
            content=_asset(self._content),
            script=script,
            figures=_json_for_html(figures),
        )


_SHELL = "shared/page.html"


def _asset(name: str) -> str:
    return (files("blender_dp.pages") / "assets" / name).read_text(encoding="utf-8")


def _without_module_lines(script: str) -> str:
    """Return a module as a plain script, without imports and ``export``.

    In a page all scripts are in one function, so that each can use the names of those before it.
    """
    plain = re.sub(r"^import [^\n]*;\n", "", script, flags=re.MULTILINE)
    plain = re.sub(r"^export (?=(const|function) )", "", plain, flags=re.MULTILINE)
    if found := re.search(r"^(import|export)\b.*", plain, flags=re.MULTILINE):
        raise ValueError(f"an import takes one line and declarations are exported: {found[0]}")
    return plain


def _in_one_function(script: str) -> str:
    return f'(() => {{\n"use strict";\n{script}}})();\n'


def _content_security_policy(style: str, script: str) -> str:
    """Return a policy that allows only these two texts to run, and no request."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_source_hash(script)}'",
            f"style-src '{_source_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json_for_html(figures: Mapping[str, Any]) -> str:
    """Return JSON without characters that an HTML parser could take for markup.

    Only ASCII is written: all other characters become escapes, also line separators and lone
    surrogates, which a page or a file may not contain.
    """
    text = json.dumps(_finite(figures), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # Outside strings JSON has none of the three, so escaping them changes no value.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value, at any depth
    """Return the value with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
