"""Trends as a single HTML page that opens offline."""

from blender_dp.pages.offline_page import Page
from blender_dp.pages.words import Words
from blender_dp.search_trends.trends import Trends

PAGE = Page(
    name="trends",
    sections=("Changes", "Ranking", "Reading"),
    style_sheets=(
        "style/page.css",
        "style/charts.css",
        "trends/trends.css",
        "style/narrow_and_print.css",
        "trends/trends_narrow.css",
    ),
    scripts=("trends_rows", "trends_ranking", "trends_changes", "trends_page"),
)


def render_trends(found: Trends, words: Words | None = None) -> str:
    """Return the HTML page that shows a ranking and, if there are any, its changes."""
    return PAGE.with_figures({"trends": found.document(), **(words or Words()).facts()})
