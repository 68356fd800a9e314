"""What reports of subset selection say: unbiased, adding up to one, each question alone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.estimate_client_probabilities.sharp import (
    client_estimates,
    estimate_client_probabilities,
)
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.population import ReportCounts

CELLS = Cells.of([3, 2])
MECHANISM = SubsetSelectionMechanism(epsilon=1.0, query_share=0.25)
RECORDS, QUERIES = (SubsetChannel.of(n, Fraction(1)) for n in (8, 3))
"""Two of eight cells are named, one of three queries."""
COUNTS = ReportCounts(
    cells=np.array([40, 20, 10, 50, 30, 20, 10, 20]),
    cell_reports=100,
    queries=np.array([12, 8, 20]),
    query_reports=40,
)


def test_one_list_by_hand() -> None:
    """pin = 2e/(2e+6), pout = (2-pin)/7; (40/100 - pout)/(pin - pout) for the first cell."""
    estimates = client_estimates(COUNTS, CELLS, MECHANISM)
    pin = 2 * np.e / (2 * np.e + 6)
    pout = (2 - pin) / 7
    x = (0.4 - pout) / (pin - pout)
    spread = x * pin * (1 - pin) + (1 - x) * pout * (1 - pout)
    assert estimates.cells.probability[0] == pytest.approx(x)
    assert estimates.cells.variance[0] == pytest.approx(spread / (pin - pout) ** 2 / 100)
    y = (12 / 40 - 1 / (np.e + 2)) / ((np.e - 1) / (np.e + 2))
    assert estimates.queries.probability[0] == pytest.approx(y)
    assert (estimates.total, estimates.counts.tolist()) == (100, COUNTS.cells.tolist())
    views = estimates.evidence
    assert isinstance(views, ClientViews)
    assert views.records is not None
    assert views.queries is not None
    assert (views.records.reports, views.queries.reports) == (100, 40)
    assert views.queries.estimate[0] == pytest.approx(y)


def test_both_questions_add_up_to_one() -> None:
    estimates = client_estimates(COUNTS, CELLS, MECHANISM)
    assert estimates.cells.probability.sum() == pytest.approx(1)
    assert estimates.queries.probability.sum() == pytest.approx(1)


def test_the_expected_reports_give_back_what_is_true() -> None:
    p, n = np.array([0.5, 0.25, 0.125, 0.125, 0.0, 0.0, 0.0, 0.0]), 2**20
    expected = n * (p * RECORDS.pin + (1 - p) * RECORDS.pout)
    assert RECORDS.estimate(expected, n) == pytest.approx(p, abs=1e-12)


def test_a_variance_is_never_negative_whatever_is_estimated() -> None:
    """Taken at the estimate moved into [0, 1]: estimates below 0 and above 1 occur."""
    extreme = replace(COUNTS, cells=np.array([100, 0, 0, 100, 0, 0, 0, 0]))
    estimates = client_estimates(extreme, CELLS, MECHANISM)
    assert estimates.cells.probability.min() < 0
    assert estimates.cells.variance.min() > 0
    floor = RECORDS.variance(np.array([0.0]), 100)[0]
    assert estimates.cells.variance[1] == pytest.approx(floor)


def test_where_nobody_was_asked_for_the_query_there_is_no_estimate_of_it() -> None:
    none = replace(COUNTS, queries=np.zeros(3, dtype=np.int64), query_reports=0)
    estimates = client_estimates(none, CELLS, replace(MECHANISM, query_share=0.0))
    assert np.isnan(estimates.queries.probability).all()
    assert np.isnan(estimates.queries.variance).all()
    assert not np.isnan(estimates.cells.probability).any()


def test_without_a_report_there_is_no_estimate() -> None:
    none = replace(COUNTS, cells=np.zeros(8, dtype=np.int64), cell_reports=0)
    with pytest.raises(BlenderError, match="one report on a record or more is needed"):
        client_estimates(none, CELLS, MECHANISM)


class Reporters:
    """Clients who have reported."""

    size = 140

    def report_counts(self, head_list: HeadList) -> ReportCounts:
        assert head_list.cells.cell_count == 8
        return COUNTS


def test_the_step_reads_the_mechanism_of_the_list() -> None:
    records = [Record("a", url) for url in "123"] + [Record("b", url) for url in "12"]
    head_list = HeadList.of(records, mechanism=MECHANISM, private=True)
    found = estimate_client_probabilities(Reporters(), head_list)
    expected = client_estimates(COUNTS, CELLS, MECHANISM)
    assert found.cells.probability.tolist() == expected.cells.probability.tolist()
    local_alg = LocalAlgMechanism(
        epsilon=4.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
    )
    with pytest.raises(ParameterError, match="mechanism must be read by the steps of paper"):
        estimate_client_probabilities(Reporters(), replace(head_list, mechanism=local_alg))
