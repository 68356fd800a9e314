"""The law of what clients report, given who truly holds what, and how unlikely a count is.

Of N clients a random R are asked for their record; each names the truth with probability pin and
any other cell with probability pout. So the count of a cell is a sum of R draws without
replacement whose mean is known. Such a sum is smaller in convex order than a binomial with the
same mean (Hoeffding 1956 and 1963), so that Chernoff's bound for the binomial holds for it.
"""

import math
from collections.abc import Mapping
from typing import Any

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.parameters import exact
from exact_tests import FALSE_ALARM

Name = tuple[str | None, str | None]


def tail_bound(count: float, n: int, p: float) -> float:
    """Return a bound on how often a count this far from its mean comes: Chernoff, two-sided."""
    x = count / n
    divergence = sum(a * math.log(a / b) for a, b in ((x, p), (1 - x, 1 - p)) if a > 0)
    return min(1.0, 2 * math.exp(-n * divergence))


def named_counts(release: Mapping[str, Any]) -> dict[Name, int]:
    return {(row["query"], row["url"]): row["client_report_count"] for row in release["records"]}


def true_shares(clients: Mapping[Name, int], cells: Mapping[Name, int]) -> dict[Name, float]:
    """Fold who holds what onto the cells of a list: what is not listed is ⋆."""
    total, folded = sum(clients.values()), dict.fromkeys(cells, 0)
    for (query, url), holders in clients.items():
        cell = (query, url) if (query, url) in cells else (query, None)
        folded[cell if cell in cells else (None, None)] += holders
    return {cell: holders / total for cell, holders in folded.items()}


def expected_shares(shares: Mapping[Name, float], channel: SubsetChannel) -> dict[Name, float]:
    pin, pout = float(channel.pin), float(channel.pout)
    return {cell: share * pin + (1 - share) * pout for cell, share in shares.items()}


def assert_reports_follow_the_log(
    counts: Mapping[Name, int],
    clients: Mapping[Name, int],
    epsilon: float,
    false_alarm: float = FALSE_ALARM,
) -> None:
    """Fail if what clients reported is too unlikely, given the log; cells share the false alarm."""
    channel = SubsetChannel.of(len(counts), exact(epsilon))
    reports, rest = divmod(sum(counts.values()), channel.subset_size)
    assert rest == 0, "some report names another number of cells"
    expected = expected_shares(true_shares(clients, counts), channel)
    bounds = {cell: tail_bound(counts[cell], reports, p) for cell, p in expected.items()}
    worst = min(bounds, key=lambda cell: bounds[cell])
    assert bounds[worst] > false_alarm / len(bounds), (
        f"a cell: expected {expected[worst]:.5f}, reported {counts[worst] / reports:.5f} "
        f"(n={reports}, p<={bounds[worst]:.1e})"
    )
