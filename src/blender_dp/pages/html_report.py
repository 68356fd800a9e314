"""The report of one run as a single HTML page that opens offline."""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

from blender_dp.pages.offline_page import Page

PAGE = Page(
    name="report",
    sections=("Ranking", "Shape", "Weights", "Groups", "Promises", "Table", "Run"),
    style_sheets=(
        "style/page.css",
        "style/charts.css",
        "style/table.css",
        "style/narrow_and_print.css",
    ),
    scripts=(
        "ranking",
        "ranking_rows",
        "rank_curve",
        "weights",
        "drift",
        "csv",
        "save_chart",
        "table",
        "table_columns",
        "summary",
        "promises",
        "run_facts",
        "page",
    ),
)

USUAL_CONFIDENCE = 0.95


def render_report(
    release: Mapping[str, Any], run: Mapping[str, Any], *, has_files: bool = True
) -> str:
    """Return the HTML page that shows one run.

    Args:
        release: the content of ``release.json``.
        run: the content of ``run.json``; a part that is missing is left out of the page.
        has_files: whether the other files of the result lie beside the page.
    """
    figures = {
        "release": release,
        "run": run,
        "has_files": has_files,
        "normal_quantile": _normal_quantile(release.get("confidence")),
    }
    return PAGE.with_figures(figures)


def _normal_quantile(confidence: object) -> float:
    """Return how many standard errors an interval of this confidence reaches to each side.

    The release has intervals of the blend only. The page computes those of the two groups from
    their standard errors, and a browser has no quantile function.
    """
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        confidence = USUAL_CONFIDENCE
    return NormalDist().inv_cdf(0.5 + confidence / 2)
