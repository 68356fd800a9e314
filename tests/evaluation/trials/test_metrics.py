"""NDCG, L1 and mean error: by hand, against a slow direct implementation, and at their edges."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blender_dp.core.head_list.cells import Cells, FloatArray
from blender_dp.evaluation.trials.metrics import (
    ndcg,
    ndcg_against_best,
    query_l1,
    query_l1_rescaled,
    record_l1,
    record_l1_rescaled,
    record_rmse,
)

lists = st.lists(st.integers(1, 4), min_size=1, max_size=5)
draws = st.integers(0, 10**6)


def vectors(cells: Cells, draw: int) -> tuple[FloatArray, FloatArray]:
    """Return an estimate, with negative entries and ties, and a truth, with zeros."""
    rng = np.random.default_rng(draw)
    estimate = rng.integers(-2, 6, cells.cell_count) / 10
    truth = rng.integers(0, 5, cells.cell_count) / 10
    return estimate, truth


def dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(gains, start=1))


def slow_ndcg(listed_urls: list[int], estimate: FloatArray, truth: FloatArray) -> float:
    """Follow the definition word for word, with lists and loops."""
    queries: list[list[tuple[float, float]]] = []
    cell = 0
    for n in listed_urls:
        queries.append([(float(estimate[cell + u]), float(truth[cell + u])) for u in range(n)])
        cell += n + 1  # ⟨q,⋆⟩ is dropped
    total = sum(n_u for urls in queries for _, n_u in urls)
    if total == 0:
        return 0.0
    scored = []
    for urls in queries:
        n_q = sum(n_u for _, n_u in urls)
        of_urls = 1.0
        if n_q > 0:
            gains = [(e, 2 ** (n_u / n_q) - 1) for e, n_u in urls]
            ranked = sorted(gains, key=lambda pair: -pair[0])  # stable: ties in byte order
            ideal = sorted((gain for _, gain in gains), reverse=True)
            of_urls = dcg([gain for _, gain in ranked]) / dcg(ideal)
        scored.append((sum(e for e, _ in urls), 2 ** (n_q / total) - 1, of_urls))
    ranked_queries = sorted(scored, key=lambda row: -round(row[0], 12))
    ideal_queries = sorted((gain for _, gain, _ in scored), reverse=True)
    return dcg([gain * of_urls for _, gain, of_urls in ranked_queries]) / dcg(ideal_queries)


def test_ndcg_of_two_queries_in_the_wrong_order_by_hand() -> None:
    """One URL each; true masses 3 and 1 of 4, ranked 2nd and 1st.

    gains 2^0.75 - 1 = 0.681793 and 2^0.25 - 1 = 0.189207; discounts 1 and 1/log2(3) = 0.630930.
    achieved 0.189207 + 0.681793·0.630930 = 0.619370
    ideal    0.681793 + 0.189207·0.630930 = 0.801169
    """
    cells = Cells.of([1, 1])
    estimate = np.array([0.1, 0.0, 0.4, 0.0, 0.5])
    truth = np.array([0.3, 0.0, 0.1, 0.0, 0.6])
    assert ndcg(cells, estimate, truth) == pytest.approx(0.619370 / 0.801169, abs=1e-5)


def test_ndcg_of_queries_that_are_listed_without_urls_by_hand() -> None:
    """The same masses in the same order, each in the one cell of its query."""
    cells = Cells.of([0, 0])
    score = ndcg(cells, np.array([0.1, 0.4, 0.5]), np.array([0.3, 0.1, 0.6]))
    assert score == pytest.approx(0.619370 / 0.801169, abs=1e-5)


def test_ndcg_of_urls_in_the_wrong_order_by_hand() -> None:
    """One query, so its own discount cancels: NDCG^q of true shares 1/4, 3/4 ranked 1st, 2nd.

    The same numbers as above: 0.619370/0.801169 = 0.773083.
    """
    cells = Cells.of([2])
    score = ndcg(cells, np.array([0.5, 0.2, 0.3, 0.0]), np.array([0.1, 0.3, 0.0, 0.6]))
    assert score == pytest.approx(0.773083, abs=1e-5)


def test_ndcg_of_ndcgs_by_hand() -> None:
    """Query a: URLs truly 1 and 3, in the wrong order (0.773083); query b: one URL of 4.

    Masses 4 and 4 of 8: both gain 2^0.5 - 1 = 0.414214. Ranked b, a:
    achieved 0.414214·1 + 0.414214·0.773083·0.630930 = 0.616249
    ideal    0.414214·(1 + 0.630930) = 0.675554
    """
    cells = Cells.of([2, 1])
    estimate = np.array([0.2, 0.1, 0.9, 0.6, 0.0, 0.0])
    truth = np.array([0.1, 0.3, 0.2, 0.4, 0.1, 0.0])
    assert ndcg(cells, estimate, truth) == pytest.approx(0.616249 / 0.675554, abs=1e-5)


def test_ties_of_queries_and_of_urls_go_by_byte_order() -> None:
    """Nothing is known, so the list stays as it is: the first query first, the first URL first."""
    cells = Cells.of([2, 1])
    truth = np.array([0.3, 0.1, 0.0, 0.2, 0.0, 0.0])
    assert ndcg(cells, np.zeros(6), truth) == pytest.approx(1)
    backwards = np.array([0.1, 0.3, 0.0, 0.6, 0.0, 0.0])
    assert ndcg(cells, np.zeros(6), backwards) < 1


def test_a_query_without_true_mass_gains_nothing_and_its_urls_count_as_perfect() -> None:
    """Masses 0 and 1, ranked in that order: achieved (2^1 - 1)/log2(3), ideal 1."""
    cells = Cells.of([2, 1])
    truth = np.array([0.0, 0.0, 0.5, 0.2, 0.0, 0.3])
    first_but_empty = np.array([0.5, 0.4, 0.0, 0.1, 0.0, 0.0])
    assert ndcg(cells, first_but_empty, truth) == pytest.approx(1 / math.log2(3))
    assert ndcg(cells, truth, truth) == 1


@pytest.mark.parametrize("listed_urls", [[], [1], [2, 3]])
def test_without_true_mass_on_the_list_the_score_is_zero(listed_urls: list[int]) -> None:
    cells = Cells.of(listed_urls)
    truth = np.zeros(cells.cell_count)
    truth[cells.star_of_query] = 1.0
    assert ndcg(cells, np.ones(cells.cell_count), truth) == 0


@given(listed_urls=lists, draw=draws)
def test_ndcg_agrees_with_a_direct_implementation(listed_urls: list[int], draw: int) -> None:
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    masses = np.round(np.bincount(cells.query_of_cell[cells.listed], estimate[cells.listed]), 12)
    # A tie of sums may break by the last bit of a float: not what is compared here.
    assume(len(set(masses.tolist())) == len(listed_urls))
    assert ndcg(cells, estimate, truth) == pytest.approx(slow_ndcg(listed_urls, estimate, truth))


@given(listed_urls=lists, draw=draws)
def test_ndcg_lies_between_zero_and_one(listed_urls: list[int], draw: int) -> None:
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    assert 0 <= ndcg(cells, estimate, truth) <= 1 + 1e-12


@given(listed_urls=lists, draw=draws, scale=st.floats(0.01, 100))
def test_a_perfect_order_scores_one_whatever_the_numbers(
    listed_urls: list[int], draw: int, scale: float
) -> None:
    """Any increasing transformation of the truth that keeps the order of the queries' sums."""
    cells = Cells.of(listed_urls)
    _, truth = vectors(cells, draw)
    assume(truth[cells.is_listed].sum() > 0)
    assert ndcg(cells, scale * truth, truth) == pytest.approx(1)


@given(listed_urls=lists, draw=draws)
def test_cells_with_a_star_have_no_say(listed_urls: list[int], draw: int) -> None:
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    before = ndcg(cells, estimate, truth), record_l1(cells, estimate, truth)
    estimate[cells.star_of_query] += 3.7
    truth[cells.star_of_query] += 0.9
    assert (ndcg(cells, estimate, truth), record_l1(cells, estimate, truth)) == before


@given(listed_urls=lists, draw=draws, scale=st.sampled_from([0.125, 0.5, 4.0, 1024.0]))
def test_the_scale_of_estimate_and_truth_has_no_say(
    listed_urls: list[int], draw: int, scale: float
) -> None:
    """Relevance is a share and the estimate is an order; powers of two round nothing."""
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    assert ndcg(cells, scale * estimate, scale * truth) == pytest.approx(
        ndcg(cells, estimate, truth)
    )


def test_l1_of_queries_by_hand() -> None:
    """|0.5 - 0.4| + |0.1 - 0.25| = 0.25; ⋆, the last, is dropped."""
    assert query_l1(np.array([0.5, 0.1, 0.4]), np.array([0.4, 0.25, 0.35])) == pytest.approx(0.25)


def test_l1_of_records_by_hand() -> None:
    """|0.2 - 0.1| + |-0.1 - 0.3| + |0.4 - 0.4| = 0.5; ⟨a,⋆⟩, ⟨b,⋆⟩ and ⟨⋆,⋆⟩ are dropped."""
    estimate = np.array([0.2, -0.1, 9.0, 0.4, 9.0, 9.0])
    truth = np.array([0.1, 0.3, 0.0, 0.4, 0.0, 0.2])
    assert record_l1(Cells.of([2, 1]), estimate, truth) == pytest.approx(0.5)


def test_an_empty_list_has_no_distance() -> None:
    assert record_l1(Cells.of([]), np.array([1.0]), np.array([0.3])) == 0
    assert query_l1(np.array([1.0]), np.array([0.3])) == 0


@given(listed_urls=lists, draw=draws)
def test_l1_is_a_distance(listed_urls: list[int], draw: int) -> None:
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    third = np.random.default_rng(draw + 1).random(cells.cell_count)
    there = record_l1(cells, estimate, truth)
    assert there == record_l1(cells, truth, estimate) >= 0
    assert record_l1(cells, truth, truth) == 0
    by_way_of = record_l1(cells, estimate, third) + record_l1(cells, third, truth)
    assert there <= by_way_of + 1e-12


def test_three_thousand_records_are_scored() -> None:
    rng = np.random.default_rng(0)
    listed_urls = [3] * 1000
    cells = Cells.of(listed_urls)
    truth = rng.dirichlet(np.ones(cells.cell_count))
    estimate = truth + rng.normal(0, 1e-4, cells.cell_count)
    assert cells.listed.size == 3000
    assert ndcg(cells, estimate, truth) == pytest.approx(slow_ndcg(listed_urls, estimate, truth))
    assert record_l1(cells, estimate, truth) == pytest.approx(
        sum(abs(float(estimate[c] - truth[c])) for c in cells.listed)
    )


def test_rescaled_l1_of_queries_by_hand() -> None:
    """Estimates 0.3, 0.1 are shares 3/4, 1/4; truths 0.2, 0.2 are 1/2, 1/2: L1 1/4 + 1/4."""
    estimate, truth = np.array([0.3, 0.1, 0.6]), np.array([0.2, 0.2, 0.6])
    assert query_l1_rescaled(estimate, truth) == pytest.approx(0.5)


def test_rescaled_l1_of_records_by_hand() -> None:
    """Listed estimates 0.2, 0.0, 0.2 are 1/2, 0, 1/2; truths 0.1, 0.1, 0.2 are 1/4, 1/4, 1/2.

    |1/2 - 1/4| + |0 - 1/4| + 0 = 1/2; ⟨a,⋆⟩, ⟨b,⋆⟩ and ⟨⋆,⋆⟩ are dropped before rescaling.
    """
    estimate = np.array([0.2, 0.0, 9.0, 0.2, 9.0, 9.0])
    truth = np.array([0.1, 0.1, 0.3, 0.2, 0.0, 0.3])
    assert record_l1_rescaled(Cells.of([2, 1]), estimate, truth) == pytest.approx(0.5)


@pytest.mark.parametrize("estimate", [[0.0, 0.0, 1.0], [0.2, -0.2, 1.0], [-0.3, 0.1, 1.2]])
def test_what_does_not_sum_to_more_than_zero_cannot_be_rescaled(estimate: list[float]) -> None:
    truth = np.array([0.2, 0.2, 0.6])
    assert math.isnan(query_l1_rescaled(np.array(estimate), truth))
    assert math.isnan(query_l1_rescaled(truth, np.array(estimate)))


@given(listed_urls=lists, draw=draws, scale=st.floats(0.01, 100))
def test_the_rescaled_l1_sees_only_shapes(listed_urls: list[int], draw: int, scale: float) -> None:
    cells = Cells.of(listed_urls)
    estimate, truth = (np.abs(vector) for vector in vectors(cells, draw))
    assume(estimate[cells.listed].sum() > 0)
    assume(truth[cells.listed].sum() > 0)
    distance = record_l1_rescaled(cells, estimate, truth)
    assert 0 <= distance <= 2 + 1e-12
    assert record_l1_rescaled(cells, scale * estimate, truth) == pytest.approx(distance)
    assert record_l1_rescaled(cells, scale * truth, truth) == pytest.approx(0, abs=1e-12)
    queries = cells.by_query(estimate), cells.by_query(truth)
    scaled = query_l1_rescaled(scale * queries[0], queries[1])
    assert scaled == pytest.approx(query_l1_rescaled(*queries))


def test_root_mean_square_error_by_hand() -> None:
    """Errors 0.3, -0.4 and 0: √((0.09 + 0.16 + 0)/3) = √(1/12); ⋆ is dropped."""
    estimate = np.array([0.4, -0.1, 9.0, 0.4, 9.0, 9.0])
    truth = np.array([0.1, 0.3, 0.0, 0.4, 0.0, 0.2])
    assert record_rmse(Cells.of([2, 1]), estimate, truth) == pytest.approx((1 / 12) ** 0.5)


def test_an_empty_list_has_no_mean_error_and_no_shape() -> None:
    assert math.isnan(record_rmse(Cells.of([]), np.array([1.0]), np.array([0.3])))
    assert math.isnan(record_l1_rescaled(Cells.of([]), np.array([1.0]), np.array([0.3])))
    assert math.isnan(query_l1_rescaled(np.array([1.0]), np.array([0.3])))


@given(listed_urls=lists, draw=draws)
def test_the_mean_error_lies_between_mean_and_largest(listed_urls: list[int], draw: int) -> None:
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    error = record_rmse(cells, estimate, truth)
    largest = np.abs(estimate - truth)[cells.listed].max()
    assert record_l1(cells, estimate, truth) / len(cells.listed) <= error + 1e-12
    assert error <= largest + 1e-12


@given(lists, draws, st.integers(0, 3))
def test_against_its_own_queries_it_is_the_ndcg_and_against_better_ones_at_most_1(
    listed_urls: list[int], draw: int, more: int
) -> None:
    """Better: more popular ones in the place of some."""
    cells = Cells.of(listed_urls)
    estimate, truth = vectors(cells, draw)
    own = np.bincount(
        cells.query_of_cell[cells.is_listed],
        weights=truth[cells.is_listed],
        minlength=cells.query_count - 1,
    ).astype(np.float64)
    assert ndcg_against_best(cells, estimate, truth, own) == ndcg(cells, estimate, truth)
    better = own.copy()
    better[:more] += 1
    assert 0 <= ndcg_against_best(cells, estimate, truth, better) <= 1 + 1e-12


def test_a_list_without_the_most_popular_query_by_hand() -> None:
    """Listed 0.2 alone; the best list of two has 0.6 and 0.2: shares 3/4 and 1/4."""
    cells = Cells.of([1])
    found = ndcg_against_best(
        cells, np.array([0.3, 0, 0.7]), np.array([0.2, 0, 0.8]), np.array([0.2, 0.6])
    )
    ideal = (2**0.75 - 1) + (2**0.25 - 1) / math.log2(3)
    assert found == pytest.approx((2**0.25 - 1) / ideal)
    nothing = np.zeros(2)
    assert ndcg_against_best(cells, np.zeros(3), np.zeros(3), nothing) == 0
    assert ndcg_against_best(Cells.of([]), np.zeros(1), np.zeros(1), np.ones(2)) == 0
