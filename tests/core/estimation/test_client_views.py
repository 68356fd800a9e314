"""What reports say, how sure they are, and how many clients are asked for the query alone."""

import numpy as np
import pytest
from core.sharp_cases import InOrOut, draw_release, falling
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.estimation.client_views import (
    QUERY_SHARES,
    ClientView,
    ClientViews,
    choose_query_share,
)
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import Cells


def test_the_variance_of_a_report_by_hand() -> None:
    """pin = 1/2, pout = 1/4, 100 reports: (0.2·0.25 + 0.8·0.1875)/(0.0625·100) = 0.032.

    Drawing clients and one record of each: 0.2/100 = 0.002.
    """
    view = ClientView(estimate=np.array([0.2]), channel=InOrOut(0.5, 0.25), reports=100)
    assert view.variance(np.array([0.2])).tolist() == pytest.approx([0.032 + 0.002])


def test_reports_of_both_kinds_are_counted() -> None:
    records = ClientView(estimate=np.ones(1), channel=InOrOut(0.5, 0.25), reports=3)
    queries = ClientView(estimate=np.ones(1), channel=InOrOut(0.5, 0.25), reports=4)
    assert ClientViews(records=records, queries=queries).reports == 7
    assert ClientViews(queries=queries).reports == 4
    assert ClientViews().reports == 0


def released(cells: Cells, seed: int = 0, *, one_record_each: bool = True) -> OptInViews:
    rng = np.random.default_rng(seed)
    return draw_release(cells, falling(cells), rng, one_record_each=one_record_each)


def chosen(views: OptInViews, *, epsilon: float, clients: int) -> float:
    cells = views.cells
    return choose_query_share(
        views.among(views.users + clients),
        record_channel=InOrOut.of(cells.cell_count, epsilon),
        query_channel=InOrOut.of(cells.query_count, epsilon),
        clients=clients,
    )


@settings(max_examples=40)
@given(
    urls=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    epsilon=st.floats(0.1, 10),
    clients=st.integers(100, 10**7),
    one_record_each=st.booleans(),
)
def test_the_share_is_the_best_of_the_grid(
    urls: list[int], epsilon: float, clients: int, one_record_each: bool
) -> None:
    """Against every share of the grid, each by the inverse of the matrix of all measurements."""
    views = released(Cells.of(urls), one_record_each=one_record_each)
    cells, n_o, p = views.cells, views.users, views.start()
    v_o = views.combined(n_o * p)[1] / n_o**2
    adding = (cells.query_of_cell == np.arange(cells.query_count)[:, None]).astype(np.float64)
    c = views.least_concentrations[0]
    target = (np.maximum(c * p, p**2) - p**2) / (n_o + clients)

    def errors(share: float) -> float:
        asked = round(share * clients)
        v_c = InOrOut.of(cells.cell_count, epsilon).variance(p, clients - asked)
        precision = np.diag(1 / v_o + 1 / (v_c + p / (clients - asked)))
        if asked:
            v_q = InOrOut.of(cells.query_count, epsilon).variance(adding @ p, asked)
            precision += adding.T @ np.diag(1 / (v_q + adding @ p / asked)) @ adding
        covariance = np.linalg.inv(precision)
        covariance -= np.outer(covariance.sum(0), covariance.sum(0)) / covariance.sum()
        by_cell = np.diag(covariance)
        by_query = np.diag(adding @ covariance @ adding.T)
        of_records = np.maximum(by_cell - target, 1e-6 * by_cell)[cells.listed]
        of_queries = np.maximum(by_query - adding @ target, 1e-6 * by_query)[:-1]
        return float(np.sqrt(of_records).sum() + np.sqrt(of_queries).sum())

    assert errors(chosen(views, epsilon=epsilon, clients=clients)) == pytest.approx(
        min(errors(share) for share in QUERY_SHARES), rel=1e-5
    )


@pytest.mark.parametrize("clients", [0, 1, 2, 3])
def test_with_hardly_any_client_somebody_is_asked_for_the_record(clients: int) -> None:
    share = chosen(released(Cells.of([1, 2])), epsilon=1.0, clients=clients)
    assert share == 0 or round(share * clients) < clients


def test_an_empty_list_needs_no_choice() -> None:
    channel = InOrOut(0.5, 0.25)
    views = released(Cells.of([]))
    assert choose_query_share(views, record_channel=channel, query_channel=channel, clients=10) == 0
