"""Trends as a single HTML page that opens offline."""

from blender_dp.report.offline_page import Page
from blender_dp.search_trends.trends import Trends

PAGE = Page(
    name="trends",
    sections=("Changes", "Ranking", "Reading"),
    style_sheets=(
        *("report.css", "charts.css", "trends.css"),
        *("narrow_and_print.css", "trends_narrow.css"),
    ),
    scripts=("trends_rows.js", "trends_ranking.js", "trends_changes.js", "trends_page.js"),
)


def render_trends(found: Trends) -> str:
    """Return the HTML page that shows a ranking and, if there are any, its changes."""
    return PAGE.with_figures({"trends": found.document()})
