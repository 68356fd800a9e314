"""Trends for the page, with something of everything."""

from blender_dp.search_trends.trends import Trends, trends
from releases import query_row, release_of, without_interval


def make_trends(name: str = "google", *, queries: int = 12, private: bool = True) -> Trends:
    """Return trends whose first query has this name."""
    shares = {f"query {i}": 0.02 / i for i in range(2, queries + 1)}
    now = [query_row(name, 0.03), *(query_row(q, p) for q, p in shares.items())]
    now += [query_row("spoilt", **without_interval(0.001)), query_row("new", 0.004)]
    then = [query_row(name, 0.02), *(query_row(q, p) for q, p in shares.items())]
    then[2] = query_row("query 3", 0.02)
    then += [query_row("spoilt", 0.001), query_row("gone", 0.004)]
    return trends(
        release_of(now, private=private),
        release_of(then, created="2026-10-15T09:00:00Z", unlisted_bound=0.0001),
    )
