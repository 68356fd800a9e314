"""The report of one run as a single HTML page that opens offline.

The page asks nobody for anything: style, script and figures lie in it, and its
Content-Security-Policy names the one style sheet and the one script it may use by
their hashes. Queries and URLs are whatever users typed, so they enter the page only
as escaped JSON, and the script puts them there only as text.
"""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from importlib.resources import files
from statistics import NormalDist
from string import Template
from typing import Any

STYLE_SHEETS = ("report.css", "charts.css", "table.css", "narrow_and_print.css")

SCRIPTS = (
    "elements.js",
    "numbers.js",
    "cells.js",
    "tooltip.js",
    "scales.js",
    "series.js",
    "ranking.js",
    "ranking_rows.js",
    "plane.js",
    "rank_curve.js",
    "weights.js",
    "csv.js",
    "table.js",
    "table_columns.js",
    "summary.js",
    "promises.js",
    "run_facts.js",
    "theme.js",
    "page.js",
)
"""Read in this order into one function, so that nothing of it is global."""

USUAL_CONFIDENCE = 0.95


def render_report(release: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Return the HTML page that shows one run.

    Args:
        release: the content of ``release.json``.
        run: the content of ``run.json``; a part that is missing is left out of the page.
    """
    style = "".join(_asset(name) for name in STYLE_SHEETS)
    script = _in_one_function("".join(_asset(name) for name in SCRIPTS))
    figures = {
        "release": release,
        "run": run,
        "normal_quantile": _normal_quantile(release.get("confidence")),
    }
    return Template(_asset("report.html")).substitute(
        policy=_content_security_policy(style, script),
        style=style,
        script=script,
        figures=_json_for_html(figures),
    )


def _asset(name: str) -> str:
    return (files("blender_dp.report") / "assets" / name).read_text(encoding="utf-8")


def _in_one_function(script: str) -> str:
    return f'(() => {{\n"use strict";\n{script}}})();\n'


def _content_security_policy(style: str, script: str) -> str:
    """Return a policy under which nothing but these two texts can run or be fetched."""
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
    """Return JSON that no HTML parser can mistake for markup.

    Only ASCII is written: line separators and lone surrogates, which a page or a file
    may not take, become escapes like every other letter beyond it.
    """
    text = json.dumps(_finite(figures), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # Outside of strings JSON has none of the three, so escaping them changes no value.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value, at any depth
    """Return the value with null for every number that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _normal_quantile(confidence: object) -> float:
    """Return how many standard errors an interval of this confidence reaches to each side.

    The release has intervals of the blend; those of the two groups are drawn from their
    standard errors, and a browser has no quantile function.
    """
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        confidence = USUAL_CONFIDENCE
    return NormalDist().inv_cdf(0.5 + confidence / 2)
