"""A plan as a single HTML page that opens offline."""

from collections.abc import Mapping
from typing import Any

from blender_dp.pages.offline_page import Page

PAGE = Page(
    name="plan",
    sections=("Curve", "Reading"),
    style_sheets=(
        "style/page.css",
        "style/charts.css",
        "style/narrow_and_print.css",
        "plan/plan.css",
    ),
    scripts=("plan_curve", "plan_page"),
)


def render_plan(plan: Mapping[str, Any]) -> str:
    """Return the HTML page that shows a plan.

    Args:
        plan: The content of ``plan.json``.
    """
    return PAGE.with_figures({"plan": plan})
