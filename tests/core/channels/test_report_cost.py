"""What a report is debited with is the largest ratio that its channel allows, rounded up."""

import json
import math
from collections import Counter
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.report_cost import COST_UNIT, cost_text, report_cost
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record

ROOT = Path(__file__).parents[3]
CASES = json.loads((ROOT / "test_vectors" / "device_costs.json").read_text(encoding="utf-8"))


def mechanism(named: dict[str, Any]) -> Mechanism:
    epsilon = float(named["epsilon"])
    if named["name"] == "subset-selection":
        return SubsetSelectionMechanism(epsilon=epsilon, query_share=float(named["query_share"]))
    return LocalAlgMechanism(
        epsilon=epsilon,
        delta=float(named["delta"]),
        query_budget_fraction=float(named["query_budget_fraction"]),
        records_per_client=named["records_per_client"],
    )


def listed(shape: list[list[int]], how: Mechanism) -> HeadList:
    sizes = [urls for queries, urls in shape for _ in range(queries)]
    records = [Record(f"q{q:05}", f"{u}") for q, size in enumerate(sizes) for u in range(size)]
    return HeadList.of(records, mechanism=how, private=True)


@pytest.mark.parametrize("case", CASES["costs"], ids=lambda case: case["name"])
def test_the_cost_of_every_vector(case: dict[str, Any]) -> None:
    head_list = listed(case["queries"], mechanism(case["mechanism"]))
    assert cost_text(report_cost(head_list)) == case["cost"]


def test_a_large_delta_costs_what_it_reveals() -> None:
    how = LocalAlgMechanism(
        epsilon=0.01, delta=0.999, query_budget_fraction=0.85, records_per_client=1
    )
    assert 6.67 < report_cost(listed([[1000, 1]], how)) < 6.68


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 8.0])
def test_subset_selection_never_costs_more_than_it_names(epsilon: float) -> None:
    how = SubsetSelectionMechanism(epsilon=epsilon, query_share=0.25)
    head_list = listed([[30, 1], [5, 3]], how)
    cost, channels = report_cost(head_list), how.channels(head_list.cells)
    assert cost <= Fraction(repr(epsilon))
    tight = max(channel.tight_epsilon() for channel in channels.values())
    assert abs(cost - Fraction(tight)) <= COST_UNIT


def rounded_up(ratio: Fraction) -> int:
    """Return 10⁶ ln of a ratio, rounded up, by another way than the code."""
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() * 10**6
        return int(exact.to_integral_value(rounding=ROUND_CEILING))


def test_the_dearer_question_counts() -> None:
    # So large an ε leaves few lies of 2^64, and rounding them makes the two questions differ.
    dearer = Counter[str]()
    for epsilon in (30.0, 33.0, 36.0, 39.0):
        for shape in ([[3, 1]], [[2, 4]], [[5, 2], [1, 1]]):
            how = SubsetSelectionMechanism(epsilon=epsilon, query_share=0.25)
            head_list = listed(shape, how)
            channels = how.channels(head_list.cells)
            record, query = (
                rounded_up(channel.likelihood_ratio()) for channel in channels.values()
            )
            dearer["query" if query > record else "record" if record > query else "none"] += 1
            assert report_cost(head_list) == max(record, query) * COST_UNIT
    assert dearer["query"] + dearer["record"] > 0


def every_probability(channel: LocalAlgChannel) -> list[list[Fraction]]:
    """Return, for each cell reported, how likely it is from each true cell: by definition."""
    sizes = channel.cells.urls_per_query.tolist()
    cells = [(q, u) for q, size in enumerate(sizes) for u in range(size)]

    def probability(said: tuple[int, int], true: tuple[int, int]) -> Fraction:
        same, sibling, stranger = channel.column(said[0])
        return same if said == true else sibling if said[0] == true[0] else stranger

    return [[probability(said, true) for true in cells] for said in cells]


@pytest.mark.parametrize("delta", [1e-5, 0.3, 0.999])
def test_no_two_inputs_of_local_alg_differ_by_more(delta: float) -> None:
    how = LocalAlgMechanism(
        epsilon=1.0, delta=delta, query_budget_fraction=0.85, records_per_client=1
    )
    head_list = listed([[4, 1], [2, 3]], how)
    table = every_probability(LocalAlgChannel.of(head_list.cells, how))
    assert {sum(row) for row in zip(*table, strict=True)} == {Fraction(1)}
    worst = max(max(row) / min(row) for row in table)
    cost = float(report_cost(head_list))
    assert cost - 1.001e-6 < math.log(worst) <= cost
