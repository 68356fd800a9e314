"""What reports say, how sure they are, and how many clients are asked for the query alone."""

import numpy as np
import pytest
from core.sharp_cases import InOrOut, falling
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.estimation.client_views import (
    QUERY_SHARES,
    ClientView,
    ClientViews,
    choose_query_share,
)
from blender_dp.core.estimation.consistency import posterior_variances
from blender_dp.core.head_list.cells import Cells


def test_the_variance_of_a_report_by_hand() -> None:
    """pin = 1/2, pout = 1/4, 100 reports: (0.2·0.25 + 0.8·0.1875)/(0.0625·100) = 0.032.

    Drawing one record, c = 0.4: 0.2·0.6/100 = 0.0012; sampling clients, n_O/n = 0.5: 0.2·0.2/100.
    """
    view = ClientView(estimate=np.array([0.2]), channel=InOrOut(0.5, 0.25), reports=100)
    p = np.array([0.2])
    assert view.variance(p, 1.0, 0.0).tolist() == pytest.approx([0.032])
    assert view.variance(p, 0.4, 0.0).tolist() == pytest.approx([0.032 + 0.0012])
    assert view.variance(p, 0.4, 0.5).tolist() == pytest.approx([0.032 + 0.0012 + 0.0004])


def test_reports_of_both_kinds_are_counted() -> None:
    records = ClientView(estimate=np.ones(1), channel=InOrOut(0.5, 0.25), reports=3)
    queries = ClientView(estimate=np.ones(1), channel=InOrOut(0.5, 0.25), reports=4)
    assert ClientViews(records=records, queries=queries).reports == 7
    assert ClientViews(queries=queries).reports == 4
    assert ClientViews().reports == 0


def chosen(cells: Cells, *, epsilon: float, clients: int, opt_in: int = 20_000) -> float:
    p = falling(cells)
    return choose_query_share(
        cells,
        p,
        p / opt_in + 50 / opt_in**2,
        record_channel=InOrOut.of(cells.cell_count, epsilon),
        query_channel=InOrOut.of(cells.query_count, epsilon),
        clients=clients,
    )


@settings(max_examples=40)
@given(
    urls=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    epsilon=st.floats(0.1, 10),
    clients=st.integers(100, 10**7),
)
def test_the_share_is_the_best_of_the_grid(urls: list[int], epsilon: float, clients: int) -> None:
    """Against every share of the grid, each evaluated from the formulas."""
    cells = Cells.of(urls)
    p = falling(cells)
    v_o = p / 20_000 + 50 / 20_000**2

    def errors(share: float) -> float:
        asked = round(share * clients)
        v_c = InOrOut.of(cells.cell_count, epsilon).variance(p, clients - asked)
        channel = InOrOut.of(cells.query_count, epsilon)
        v_q = (
            channel.variance(cells.by_query(p), asked)
            if asked
            else np.full(cells.query_count, np.inf)
        )
        v = v_o * v_c / (v_o + v_c)
        by_cell, by_query = posterior_variances(v, cells, v_q)
        return float(np.sqrt(by_cell)[cells.listed].sum() + np.sqrt(by_query)[:-1].sum())

    assert errors(chosen(cells, epsilon=epsilon, clients=clients)) == pytest.approx(
        min(errors(share) for share in QUERY_SHARES)
    )


@pytest.mark.parametrize("clients", [0, 1, 2, 3])
def test_with_hardly_any_client_somebody_is_asked_for_the_record(clients: int) -> None:
    share = chosen(Cells.of([1, 2]), epsilon=1.0, clients=clients)
    assert share == 0 or round(share * clients) < clients


def test_an_empty_list_needs_no_choice() -> None:
    channel = InOrOut(0.5, 0.25)
    assert (
        choose_query_share(
            Cells.of([]),
            np.ones(1),
            np.ones(1),
            record_channel=channel,
            query_channel=channel,
            clients=10,
        )
        == 0
    )
