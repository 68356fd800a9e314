"""The numbering of cells: query by query, its URLs, then ⟨q,⋆⟩, and last of all ⟨⋆,⋆⟩."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.head_list.cells import Cells

listed_urls = st.lists(st.integers(1, 6), max_size=12)


def test_the_cells_of_a_small_list_by_hand() -> None:
    """Two URLs, ⟨a,⋆⟩; one URL, ⟨b,⋆⟩; ⟨⋆,⋆⟩."""
    cells = Cells.of([2, 1])
    assert cells.urls_per_query.tolist() == [3, 2, 1]
    assert cells.first_cell.tolist() == [0, 3, 5]
    assert cells.query_of_cell.tolist() == [0, 0, 0, 1, 1, 2]
    assert cells.star_of_query.tolist() == [2, 4, 5]
    assert cells.is_listed.tolist() == [True, True, False, True, False, False]
    assert cells.listed.tolist() == [0, 1, 3]
    assert (cells.query_count, cells.cell_count, cells.other) == (3, 6, 5)


def test_an_empty_list_has_one_cell_for_everything() -> None:
    cells = Cells.of([])
    assert (cells.query_count, cells.cell_count, cells.other) == (1, 1, 0)
    assert cells.urls_per_query.tolist() == [1]
    assert cells.listed.tolist() == []
    assert cells.by_query(np.array([0.25])).tolist() == [0.25]


@given(urls=listed_urls)
def test_every_cell_belongs_to_exactly_one_query(urls: list[int]) -> None:
    cells = Cells.of(urls)
    assert cells.cell_count == sum(urls) + len(urls) + 1
    assert cells.query_count == len(urls) + 1
    owned = [
        cell
        for first, k_q in zip(cells.first_cell, cells.urls_per_query, strict=True)
        for cell in range(first, first + k_q)
    ]
    assert owned == list(range(cells.cell_count))
    sizes = np.bincount(cells.query_of_cell, minlength=cells.query_count)
    assert sizes.tolist() == cells.urls_per_query.tolist() == [*(n + 1 for n in urls), 1]


@given(urls=listed_urls)
def test_the_star_of_a_query_is_its_last_cell(urls: list[int]) -> None:
    cells = Cells.of(urls)
    assert cells.query_of_cell[cells.star_of_query].tolist() == list(range(cells.query_count))
    assert cells.star_of_query[-1] == cells.other == cells.cell_count - 1
    next_first = [*cells.first_cell[1:].tolist(), cells.cell_count]
    assert cells.star_of_query.tolist() == [first - 1 for first in next_first]


@given(urls=listed_urls)
def test_a_cell_is_listed_unless_it_is_a_star(urls: list[int]) -> None:
    cells = Cells.of(urls)
    stars = set(cells.star_of_query.tolist())
    assert cells.listed.tolist() == [c for c in range(cells.cell_count) if c not in stars]
    assert cells.is_listed.sum() == sum(urls)


@given(urls=listed_urls, scale=st.integers(1, 100))
def test_adding_up_by_query_loses_nothing(urls: list[int], scale: int) -> None:
    cells = Cells.of(urls)
    values = scale * np.arange(1.0, cells.cell_count + 1)
    by_hand = [values[cells.query_of_cell == q].sum() for q in range(cells.query_count)]
    assert cells.by_query(values).tolist() == by_hand
