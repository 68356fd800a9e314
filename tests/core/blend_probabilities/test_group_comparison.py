"""Every record and query of one group against the other, as the blend sees them."""

from dataclasses import replace

import numpy as np
import pytest
from core.sharp_cases import Groups, draw_groups

from blender_dp.core.blend_probabilities.sharp import combine
from blender_dp.core.curator.budget import Branch
from blender_dp.core.estimation.client_views import ClientView
from blender_dp.core.estimation.poisoning import Disagreement

URLS = [3, 2, 1, 1, 2, 4, 1, 1, 1, 2]


def found(groups: Groups) -> Disagreement:
    combined = combine(groups.release.among(groups.users), groups.clients)
    assert combined.disagreement is not None
    return combined.disagreement


def push(groups: Groups, cell: int, by: float) -> Groups:
    """Add to what the clients' record reports say of one cell."""
    view = groups.clients.records
    assert isinstance(view, ClientView)
    estimate = view.estimate.copy()
    estimate[cell] += by
    estimate[-1] -= by
    pushed = replace(groups.clients, records=replace(view, estimate=estimate))
    return replace(groups, clients=pushed)


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
def test_records_and_queries_are_compared_but_no_star(branch: Branch) -> None:
    groups = draw_groups(URLS, 1, branch=branch)
    assert found(groups).comparisons == sum(URLS) + len(URLS)
    assert not found(groups).is_alarming


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
@pytest.mark.parametrize("listed", [0, 9, 17])
def test_a_record_that_clients_push_is_named_first(branch: Branch, listed: int) -> None:
    groups = draw_groups(URLS, 2, branch=branch)
    cell = int(groups.cells.listed[listed])
    alarm = found(push(groups, cell, 0.05))
    assert alarm.is_alarming
    item, z = alarm.widest[0]
    query = groups.cells.cell_count + int(groups.cells.query_of_cell[cell])
    assert item in (cell, query)
    assert z < -5


def test_a_record_that_opt_in_accounts_push_has_the_other_sign() -> None:
    groups = draw_groups(URLS, 3)
    sums = groups.release.sums.copy()
    sums[4] += 1500
    alarm = found(replace(groups, release=replace(groups.release, sums=sums)))
    assert alarm.is_alarming
    assert alarm.widest[0][1] > 5


def test_without_reports_on_records_only_queries_are_compared() -> None:
    groups = draw_groups(URLS, 4)
    only_queries = replace(groups, clients=replace(groups.clients, records=None))
    assert found(only_queries).comparisons == len(URLS)


def test_without_clients_nothing_is_compared() -> None:
    groups = draw_groups(URLS, 5)
    combined = combine(groups.release.among(groups.users), None)
    assert combined.disagreement is None


@pytest.mark.parametrize("one_record_each", [True, False])
def test_groups_alike_agree_on_a_hundred_draws(one_record_each: bool) -> None:
    """Fixed draws, at an alarm of once in a thousand or less."""
    p_values = [
        found(draw_groups(URLS, seed, one_record_each=one_record_each)).p_value
        for seed in range(100)
    ]
    assert min(p_values) > 0.001
    assert np.mean(p_values) > 0.5
