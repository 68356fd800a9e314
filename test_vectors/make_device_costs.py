"""Writes device_costs.json: lists, what one report against each costs, and what a window costs.

Run it only when a mechanism gets a new version: ``python test_vectors/make_device_costs.py``.
"""

from typing import Any

from vector_file import write_vectors

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.report_cost import cost_text, report_cost
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.published.head_list import head_list_document

DAY = 86_400
Shape = tuple[tuple[int, int], ...]


def paper(
    epsilon: float, delta: float, query_budget_fraction: float = 0.85, records: int = 1
) -> Mechanism:
    """Return LocalAlg with these parameters."""
    return LocalAlgMechanism(
        epsilon=epsilon,
        delta=delta,
        query_budget_fraction=query_budget_fraction,
        records_per_client=records,
    )


def sharp(epsilon: float, query_share: float = 0.25) -> Mechanism:
    """Return subset selection with these parameters."""
    return SubsetSelectionMechanism(epsilon=epsilon, query_share=query_share)


LISTS: tuple[tuple[str, Mechanism, Shape], ...] = (
    ("a δ close to 1 behind a small ε", paper(0.01, 0.999), ((1000, 1),)),
    ("a δ close to 1, many pages for each query", paper(0.01, 0.999), ((1000, 9),)),
    ("the paper's mechanism", paper(4.0, 1e-5), ((500, 2),)),
    ("all of the budget on the query, nearly", paper(4.0, 1e-5, 0.99), ((32, 1), (8, 4))),
    ("hardly any of it on the query", paper(4.0, 1e-5, 0.01), ((32, 1), (8, 4))),
    ("a small ε", paper(0.1, 1e-7), ((40, 1),)),
    ("three records", paper(6.0, 1e-5, records=3), ((40, 2),)),
    ("one query", paper(1.0, 1e-5), ((1, 1),)),
    ("subset selection", sharp(4.0), ((40, 1),)),
    ("subset selection with a small ε", sharp(0.1), ((40, 3), (10, 1))),
    ("subset selection without questions for the query only", sharp(2.0, 0.0), ((100, 2),)),
    ("subset selection with a large ε", sharp(8.0), ((32, 1),)),
    ("subset selection on a long list", sharp(1.0), ((5000, 2),)),
    ("subset selection on one query", sharp(1.0), ((1, 1),)),
)
WINDOWS: tuple[tuple[str, int, tuple[tuple[int, str], ...], str], ...] = (
    ("nothing", 90, (), "0.000000"),
    ("a row of now", 90, ((0, "2.000000"),), "2.000000"),
    ("a row as old as the window counts no more", 90, ((90 * DAY, "2.000000"),), "0.000000"),
    ("a row that is a second younger counts", 90, ((90 * DAY - 1, "2.000000"),), "2.000000"),
    ("a row that is older does not", 90, ((90 * DAY + 1, "2.000000"),), "0.000000"),
    ("a row from the future counts", 90, ((-DAY, "2.000000"),), "2.000000"),
    ("decimals add up exactly", 1, ((0, "0.100000"), (1, "0.200000")), "0.300000"),
    ("a window of nothing", 0, ((0, "2.000000"),), "0.000000"),
)


def head_list(mechanism: Mechanism, shape: Shape) -> HeadList:
    """Return a list with so many queries of so many pages each."""
    sizes = [urls for queries, urls in shape for _ in range(queries)]
    return HeadList.of(
        [
            Record(f"query {q:05}", f"{u}.example")
            for q, size in enumerate(sizes)
            for u in range(size)
        ],
        mechanism=mechanism,
        private=True,
    )


def cost(name: str, mechanism: Mechanism, shape: Shape) -> dict[str, Any]:
    """Return one case: the mechanism as published, and what a report costs."""
    listed = head_list(mechanism, shape)
    return {
        "name": name,
        "mechanism": head_list_document(listed)["mechanism"],
        "queries": shape,
        "cost": cost_text(report_cost(listed)),
    }


def window(name: str, days: int, rows: tuple[tuple[int, str], ...], spent: str) -> dict[str, Any]:
    """Return one case: rows of a ledger, and what they cost in a window."""
    return {
        "name": name,
        "window_days": days,
        "rows": [{"age_seconds": age, "epsilon": epsilon} for age, epsilon in rows],
        "spent": spent,
    }


def main() -> None:
    """Write the file."""
    vectors = {
        "costs": [cost(*case) for case in LISTS],
        "windows": [window(*case) for case in WINDOWS],
    }
    write_vectors("device_costs.json", vectors)


if __name__ == "__main__":
    main()
