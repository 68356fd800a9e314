"""Speed of LocalAlg: millions of reports at once, and one report as a device makes it."""

import time

import numpy as np

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.local_alg.paper import privatize_many

REPORTS, CALLS = 5_000_000, 50_000


def table() -> str:
    """Return the figures as Markdown."""
    lines = [
        "## LocalAlg with cryptographic randomness, one core",
        "",
        "Goal: at least 5 million reports per second, and under 20 µs on a device. The lower bound",
        "is drawing the three words a report may need and nothing else.",
        "",
        "| ε | queries | reports/s, vectorised | of the lower bound | one report on a device |",
        "|---|---|---|---|---|",
    ]
    lines += [_row(epsilon, queries) for epsilon in (1.0, 4.0) for queries in (50, 500)]
    return "\n".join(lines)


def _row(epsilon: float, queries: int) -> str:
    records = [Record(f"query {q}", f"url {u}") for q in range(queries) for u in range(1 + q % 2)]
    mechanism = LocalAlgMechanism(
        epsilon=epsilon, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
    )
    head_list = HeadList.of(records, mechanism=mechanism, private=True)
    channel = LocalAlgChannel.of(head_list.cells, mechanism)
    cells = np.full(REPORTS, head_list.cells.other)
    cells[: REPORTS // 10] = np.arange(REPORTS // 10) % head_list.cells.cell_count
    randomness = Randomness.secure()
    began = time.process_time()
    privatize_many(cells, channel, randomness)
    ours = time.process_time() - began
    began = time.process_time()
    for _ in range(REPORTS // 65_536):
        randomness.words(3 * 65_536)
    least = time.process_time() - began
    device = LocalRandomizer(head_list)
    began = time.process_time()
    for _ in range(CALLS):
        device.report("query 3", "url 0")
    each = (time.process_time() - began) / CALLS
    return (
        f"| {epsilon:g} | {queries} | {REPORTS / ours / 1e6:.1f} million | {least / ours:.0%} "
        f"| {each * 1e6:.1f} µs |"
    )
