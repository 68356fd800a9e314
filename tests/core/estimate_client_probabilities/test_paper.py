"""EstimateClientProbabilities undoes LocalAlg: against the matrix of Fig. 6, inverted.

The estimate is linear in the reported shares and unbiased for every p, so it can only be the
inverse of the matrix; that is the oracle, and it shares nothing with Fig. 5.
"""

from fractions import Fraction

import numpy as np
import pytest
from core.fig_6_by_hand import Promise, matrix
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.errors import BlenderError
from blender_dp.core.estimate_client_probabilities.paper import (
    client_estimates,
    estimate_client_probabilities,
)
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.population import ReportCounts

MANY = 10**15
"""Reports, so many that rounding the expected counts to integers is no error to speak of."""

lists = st.lists(st.integers(1, 4), min_size=1, max_size=5)
promises = st.builds(
    Promise,
    epsilon=st.fractions(2, 8, max_denominator=10),
    f_c=st.fractions(Fraction(3, 10), Fraction(9, 10), max_denominator=20),
    delta=st.just(Fraction(1, 10**5)),
    m_c=st.just(1),
)


def channel(listed_urls: list[int], promise: Promise) -> LocalAlgChannel:
    return LocalAlgChannel.of(Cells.of(listed_urls), mechanism(promise))


def mechanism(promise: Promise) -> LocalAlgMechanism:
    return LocalAlgMechanism(
        epsilon=float(promise.epsilon),
        delta=float(promise.delta),
        query_budget_fraction=float(promise.f_c),
        records_per_client=promise.m_c,
    )


def by_hand(listed_urls: list[int], promise: Promise) -> FloatArray:
    return np.array([[float(p) for p in row] for row in matrix(listed_urls, promise)])


def some_distribution(cells: Cells, seed: int) -> FloatArray:
    p: FloatArray = np.random.default_rng(seed).dirichlet(np.full(cells.cell_count, 0.5))
    return p


@given(listed_urls=lists, promise=promises, draw=st.integers(0, 10**6))
def test_the_expected_reports_give_back_what_is_true(
    listed_urls: list[int], promise: Promise, draw: int
) -> None:
    """``observation:client-denoising``: r = p·matrix in, p out, on records and on queries."""
    made = channel(listed_urls, promise)
    p = some_distribution(made.cells, draw)
    reports = np.rint(MANY * (p @ by_hand(listed_urls, promise))).astype(np.int64)
    estimates = client_estimates(reports, made)
    assert estimates.cells.probability == pytest.approx(p, abs=1e-12)
    assert estimates.queries.probability == pytest.approx(made.cells.by_query(p), abs=1e-12)


@given(listed_urls=lists, promise=promises, draw=st.integers(0, 10**6))
def test_the_estimate_is_the_inverse_of_the_matrix_for_any_reports(
    listed_urls: list[int], promise: Promise, draw: int
) -> None:
    """Also for reports that no p explains: negative estimates stay negative, the sum stays one."""
    made = channel(listed_urls, promise)
    reports: IntArray = np.random.default_rng(draw).integers(0, 50, made.cells.cell_count)
    reports[-1] += 2
    solved = np.linalg.solve(by_hand(listed_urls, promise).T, reports / reports.sum())
    estimates = client_estimates(reports, made)
    assert estimates.cells.probability == pytest.approx(solved, abs=1e-9)
    assert estimates.cells.probability.sum() == pytest.approx(1, abs=1e-9)
    by_query = made.cells.by_query(estimates.cells.probability)
    assert estimates.queries.probability == pytest.approx(by_query, abs=1e-9)


def test_an_epsilon_a_tenth_off_does_not_give_back_what_is_true() -> None:
    """The oracle has teeth."""
    promise = Promise(Fraction(4))
    made = channel([2, 1], promise)
    p = some_distribution(made.cells, 1)
    off = by_hand([2, 1], promise._replace(epsilon=Fraction(44, 10)))
    reports = np.rint(MANY * (p @ off)).astype(np.int64)
    assert client_estimates(reports, made).cells.probability != pytest.approx(p, abs=1e-3)


def test_one_list_by_hand() -> None:
    """k = 2, t = 3/4 and t_q = 2/3, of 120 reports: 60 ⟨q,u⟩, 25 ⟨q,⋆⟩, 35 ⟨⋆,⋆⟩.

    Queries: r̂_q = 85/120, lie 1/4: p̂_q = (85/120 - 30/120)/(1/2) = 11/12, p̂_⋆ = 1/12.
    ⟨q,u⟩: r̂ = 1/2; another URL of q told as u: (3/4)(1/3) = 1/4 of p̂_q; another query: (1/4)/2.
    p̂ = (1/2 - (1/4)(11/12) - (1/8)(1/12)) / ((3/4)(2/3 - 1/3)) = (25/96)/(1/4) = 25/24.
    """
    word = 2**64
    made = LocalAlgChannel(
        cells=Cells.of([1]),
        query_threshold=3 * word // 4,
        url_thresholds=(2 * word // 3, word),
    )
    estimates = client_estimates(np.array([60, 25, 35]), made)
    assert estimates.queries.probability.tolist() == pytest.approx([11 / 12, 1 / 12])
    first = (1 / 2 - 11 / 48 - 1 / 96) / (1 / 4)
    assert estimates.cells.probability.tolist() == pytest.approx([first, 11 / 12 - first, 1 / 12])
    assert (estimates.counts.tolist(), estimates.total) == ([60, 25, 35], 120)


def test_the_record_estimate_of_the_star_is_its_query_estimate() -> None:
    """k_q = 1: the only URL is ⋆, and (1-t_q)/(k_q-1) counts as 0 (reading R2)."""
    estimates = client_estimates(
        np.array([10, 20, 30, 25, 5, 10]), channel([2, 1], Promise(Fraction(2)))
    )
    assert estimates.cells.probability[-1] == estimates.queries.probability[-1]
    assert estimates.cells.variance[-1] == estimates.queries.variance[-1]
    assert np.isfinite(estimates.cells.variance).all()


@pytest.mark.parametrize("reports", [0, 1, 500])
def test_with_only_the_star_listed_everything_is_the_star(reports: int) -> None:
    """k = 1: known without any report (reading R3)."""
    estimates = client_estimates(np.array([reports]), channel([], Promise(Fraction(4))))
    for estimate in (estimates.cells, estimates.queries):
        assert estimate.probability.tolist() == [1.0]
        assert estimate.variance.tolist() == [0.0]
    assert estimates.total == reports


class Reporters:
    """Clients who have reported."""

    size = 100

    def __init__(self, counts: list[int]) -> None:
        self.counts = np.array(counts)
        self.asked: list[HeadList] = []

    def report_counts(self, head_list: HeadList) -> ReportCounts:
        self.asked.append(head_list)
        return ReportCounts.one_cell_each(self.counts, head_list.cells)


def test_the_step_asks_once_and_reads_the_mechanism_of_the_list() -> None:
    promise = Promise(Fraction(3), f_c=Fraction(1, 2))
    head_list = HeadList.of(
        [Record("a", "1"), Record("a", "2"), Record("b", "1")],
        mechanism=mechanism(promise),
        private=True,
    )
    clients = Reporters([10, 20, 30, 25, 5, 10])
    estimates = estimate_client_probabilities(clients, head_list)
    assert clients.asked == [head_list]
    expected = client_estimates(clients.counts, channel([2, 1], promise))
    assert estimates.cells.probability.tolist() == expected.cells.probability.tolist()
    assert estimates.cells.variance.tolist() == expected.cells.variance.tolist()


@pytest.mark.parametrize("reports", [[0, 0, 0], [0, 1, 0]])
def test_fewer_than_two_reports_are_a_sentence(reports: list[int]) -> None:
    with pytest.raises(BlenderError, match="two reports or more are needed"):
        client_estimates(np.array(reports), channel([1], Promise(Fraction(3))))
