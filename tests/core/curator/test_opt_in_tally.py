"""A list trimmed to its largest queries: what becomes of the integers released for it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.blender import curate
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.discovery import branch_of
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation

MANY = Parameters(epsilon=2.0, delta=1e-4)
DECLARED = replace(MANY, one_record_each=True)
CELLS = Cells.of([2, 1, 3, 1])


def tally_of(
    parameters: Parameters, branch: Branch, values: list[int], sums: list[int]
) -> OptInTally:
    """Return a tally of 20,000 users; ``values`` and ``sums`` are in users."""
    choice = branch_of(None, 20_000, Budget.of(parameters))
    return OptInTally(
        users=20_000,
        choice=replace(choice, branch=branch),
        values=np.array(values) * (UNIT if branch == "gauss" else 1),
        sums=np.array(sums) * UNIT,
        folded_cells=0,
        record_squares=int(0.4 * UNIT * sum(values)),
        query_squares=int(0.5 * UNIT * sum(values)),
    )


def test_trimming_by_hand() -> None:
    """Of three queries with 3, 9 and 6 users the last two stay; ⟨⋆,⋆⟩ has two draws more."""
    cells, budget = Cells.of([1, 1, 1]), Budget.of(DECLARED)
    sums = [2, 1, 9, 0, 5, 1, 100]
    tally = tally_of(DECLARED, "laplace", [2, 9, 5], sums)
    views = tally.views(cells, budget)
    kept = views.largest_queries(2)
    assert kept.tolist() == [1, 2]
    shorter = tally.keeping(cells, kept, views.whole_list)
    assert shorter.values.tolist() == [9, 5]
    assert (shorter.sums / UNIT).tolist() == [9, 0, 5, 1, 103]
    assert shorter.folded_cells == 2
    trimmed = shorter.views(Cells.of([1, 1]), budget)
    assert trimmed.sum_variance[-1] == 3 * trimmed.sum_variance[0]
    assert np.isnan(trimmed.values).tolist() == [False, True, False, True, True]


@pytest.mark.parametrize(
    ("parameters", "branch"), [(DECLARED, "laplace"), (MANY, "laplace"), (MANY, "gauss")]
)
@settings(max_examples=40)
@given(
    values=st.lists(st.integers(20, 5000), min_size=7, max_size=7),
    sums=st.lists(st.integers(-20, 3000), min_size=12, max_size=12),
    most=st.integers(1, 3),
)
def test_trimming_loses_no_user_and_keeps_what_is_known_of_the_whole_list(
    parameters: Parameters, branch: Branch, values: list[int], sums: list[int], most: int
) -> None:
    budget = Budget.of(parameters)
    tally = tally_of(parameters, branch, values, sums)
    whole = tally.views(CELLS, budget)
    kept = whole.largest_queries(most)
    shorter = tally.keeping(CELLS, kept, whole.whole_list)
    cells = Cells.of((CELLS.urls_per_query[kept] - 1).tolist())
    views = shorter.views(cells, budget)
    assert shorter.sums.sum() == tally.sums.sum()
    assert views.sum_variance.sum() == pytest.approx(whole.sum_variance.sum())
    assert views.whole_list == whole.whole_list
    stays = np.isin(CELLS.query_of_cell, kept)
    assert views.scaled_values[:-1] == pytest.approx(whole.scaled_values[stays])
    assert views.scaled_variance[:-1] == pytest.approx(whole.scaled_variance[stays])


@pytest.mark.parametrize(("most", "trimmed"), [(None, False), (4, False), (9, False), (3, True)])
def test_a_list_short_enough_stays_as_it_is(most: int | None, trimmed: bool) -> None:
    rows = [LogRow(f"u{i}", f"q{i % 4}", "x.example") for i in range(900)]
    population = MemoryPopulation.of(rows, Randomness.seeded(1), opt_in=0.5)
    parameters = Parameters(epsilon=6.0, delta=1e-2, head_list_size=most)
    curated = curate(population.opt_in, parameters, Randomness.seeded(2), clients=450)
    assert len(curated.head_list.queries) == (3 if trimmed else 4)
    assert curated.opt_in.tally is not None
    assert (curated.opt_in.tally.whole_list is not None) == trimmed
