"""The page of a plan: closed to the world, and what it shows."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pages.test_html_report import NASTY, embedded, sha256
from pages.test_html_report import Page as Markup
from playwright.sync_api import Page
from tabs import Tabs

from blender_dp.pages.plan_page import render_plan

MEASURES = (
    *("queries", "records", "ndcg", "query_l1", "record_l1", "query_interval", "record_interval"),
)


def a_point(opt_in: float, mean: float) -> dict[str, Any]:
    measures = {
        name: {"mean": mean, "error": 0.01, "low": 0.0, "high": 2 * mean} for name in MEASURES
    }
    measures["ndcg"] = {"mean": 0.98, "error": 0.01, "low": 0.95, "high": 1.0}
    return {"opt_in": opt_in, "epsilon": 4.0, "users": 1000, "measures": measures}


def a_plan(like: str = "aol", *, points: int = 5) -> dict[str, Any]:
    answer = {
        "varied": "opt_in",
        "nearest": 0.07,
        "opt_in_users": 70,
        "ndcg": 0.99,
        "queries": 42.0,
        "query_l1": 0.01,
    }
    return {
        **a_point(0.05, 30.0),
        "like": like,
        "draws": 6,
        "known_queries": 12,
        "parameters": {"preset": "sharp"},
        "choices": {
            "discovery": "one record per user, Laplace noise on counts",
            "client_mechanism": "subset selection",
            "query_share": 0.9,
            "head_list_user_fraction": None,
            "query_budget_fraction": None,
            "head_list_size": 12,
        },
        "answers": [answer | {"value": 0.07}, answer | {"varied": "epsilon", "value": None}],
        "curve": {
            "of": "opt_in",
            "points": [a_point(0.01 * 2**i, 10.0 + i) for i in range(points)],
        },
        "remarks": ["If records are like it."],
    }


def a_relay_plan() -> dict[str, Any]:
    points = [a_point(0.05, 10.0 - i) | {"relay": 0.2 * i} for i in range(6)]
    without = a_point(0.05, 10.0) | {"relay": 0.0}
    return a_plan() | {
        "relay": 0.4,
        "relay_sentence": "9 clients; ε = 4 unless they collude.",
        "without_relay": without,
        "curve": {"of": "relay", "points": points, "without_relay": [without]},
    }


@pytest.mark.parametrize("text", NASTY)
def test_a_name_comes_back_unchanged_and_adds_no_markup(text: str) -> None:
    page = Markup(render_plan(a_plan(text)))
    assert page.figures["plan"]["like"] == text
    assert page.tags == Markup(render_plan(a_plan())).tags


def test_the_policy_allows_the_pages_own_script_and_style_only() -> None:
    html = render_plan(a_plan())
    assert Markup(html).policy.split("; ")[:3] == [
        "default-src 'none'",
        f"script-src 'sha256-{sha256(embedded(html, 'script'))}'",
        f"style-src 'sha256-{sha256(embedded(html, 'style'))}'",
    ]


def test_every_reference_between_elements_is_met() -> None:
    html = render_plan(a_plan())
    ids = [a["id"] for _, a in Markup(html).tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'byId\("([^"]+)"\)', embedded(html, "script"))) <= set(ids)


def test_the_figures_are_those_of_the_json() -> None:
    plan = a_plan()
    assert Markup(render_plan(plan)).figures == {"plan": json.loads(json.dumps(plan))}


@contextmanager
def shown(tabs: Tabs, directory: Path, plan: dict[str, Any], width: int) -> Iterator[Page]:
    """Show a page without a network, and fail if it complains."""
    path = directory / "plan.html"
    path.write_text(render_plan(plan), encoding="utf-8")
    with tabs.watched() as seen:
        page = tabs.take(width=width)
        page.goto(path.as_uri())
        yield page
    assert seen.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_draws_what_a_relay_would_change(tabs: Tabs, tmp_path: Path, width: int) -> None:
    with shown(tabs, tmp_path, a_relay_plan(), width) as page:
        assert page.inner_text("#curve-title") == "What a relay would change"
        assert "40.0\u00a0% of the clients behind a relay" in page.inner_text("#made")
        assert "Relay: 9 clients; ε = 4 unless they collude." in page.inner_text("#notes")
        assert page.locator("#tiles .tile-error", has_text="without relay").count() == 7
        assert page.is_checked("input[value=query_l1]")
        for series in ("relay", "clients"):
            assert page.locator(f"#curve-plane .series-{series} .curve-points").count() == 1
        page.click("#curve-legend [data-series=clients]")
        assert page.locator("#curve-plane .curve-points").count() == 1
        page.focus("#curve-plane svg")
        page.keyboard.press("End")
        assert "With a relay" in page.inner_text("#tooltip")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_draws_the_curve_of_every_measure(tabs: Tabs, tmp_path: Path, width: int) -> None:
    with shown(tabs, tmp_path, a_plan(), width) as page:
        assert "known to within half" in page.inner_text("#lead")
        assert "The target is reached with" in page.inner_text("#notes")
        for name in ("records", "ndcg", "query_l1", "record_l1", "queries"):
            page.check(f"input[value={name}]", force=True)
            assert page.locator("#curve-plane .curve-points").count() == 1
        page.focus("#curve-plane svg")
        page.keyboard.press("End")
        assert "14" in page.inner_text("#tooltip")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    with shown(tabs, tmp_path, a_plan(points=0), width) as page:
        assert page.is_hidden("#curve")
