"""Simulated clients answer the question they are asked, each of them once."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contracts.populations import POPULATIONS

from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.sharp import subset_counts
from blender_dp.core.population import ReportCounts
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation, MemoryUsers
from blender_dp.engine.population.simulated_clients import (
    SimulatedClients,
    one_by_one,
    reports_one_by_one,
)
from blender_dp.evaluation.trials.counted_reports import all_at_once

ROWS = [LogRow(f"user {u}", f"q{u % 7}", f"{u % 2}.example") for u in range(1000)]
MECHANISM = SubsetSelectionMechanism(epsilon=2.0, query_share=0.25)
HEAD_LIST = HeadList.of(
    [Record(f"q{q}", f"{u}.example") for q in range(4) for u in range(2)],
    mechanism=MECHANISM,
    private=False,
)
CHANNELS = MECHANISM.channels(HEAD_LIST.cells)


def clients(seed: int, users: int = 1000) -> SimulatedClients:
    rows = ROWS[: round(users / 0.8)]
    return MemoryPopulation.of(rows, Randomness.seeded(seed), opt_in=0.2).clients


def require_whole(reports: ReportCounts) -> None:
    d_cells, d_queries = CHANNELS["record"].subset_size, CHANNELS["query"].subset_size
    assert reports.cells.sum() == d_cells * reports.cell_reports
    assert reports.queries.sum() == d_queries * reports.query_reports


def test_the_share_of_the_clients_is_asked_for_the_query(seed: int) -> None:
    reports = clients(seed).report_counts(HEAD_LIST)
    assert (reports.cell_reports, reports.query_reports) == (600, 200)
    require_whole(reports)


def test_the_two_groups_are_all_clients_and_share_nobody(seed: int) -> None:
    asked = clients(seed).true_counts(HEAD_LIST)
    everybody = clients(seed).users.cell_counts(HEAD_LIST, 1)
    by_query = HEAD_LIST.cells.by_query(asked["record"]) + asked["query"]
    assert by_query.tolist() == HEAD_LIST.cells.by_query(everybody).tolist()


def test_who_is_asked_is_drawn_anew_with_other_keys(seed: int) -> None:
    """Alike for two keys only if 200 of 800 fall on the queries in the very same numbers."""
    found = {tuple(clients(seed + i).true_counts(HEAD_LIST)["query"].tolist()) for i in range(20)}
    assert len(found) > 1


@pytest.mark.parametrize("opened", POPULATIONS.values(), ids=POPULATIONS)
def test_every_engine_asks_the_same_clients(opened: object, tmp_path: Path, seed: int) -> None:
    assert callable(opened)
    with opened(ROWS, Randomness.seeded(seed), tmp_path, opt_in=0.2) as population:
        found = population.clients.report_counts(HEAD_LIST)
    expected = clients(seed).report_counts(HEAD_LIST)
    assert found.cells.tolist() == expected.cells.tolist()
    assert found.queries.tolist() == expected.queries.tolist()


def test_without_a_share_everybody_is_asked_for_the_record(seed: int) -> None:
    head_list = replace(HEAD_LIST, mechanism=replace(MECHANISM, query_share=0.0))
    reports = clients(seed).report_counts(head_list)
    assert (reports.cell_reports, reports.query_reports) == (800, 0)
    assert reports.queries.tolist() == [0] * 5


@pytest.mark.parametrize(("users", "for_query"), [(1, 0), (2, 0), (3, 1), (4, 1), (10, 2)])
def test_few_clients_are_parted_too_but_two_are_asked_for_the_record(
    users: int, for_query: int, seed: int
) -> None:
    everybody = clients(seed).users
    assert isinstance(everybody, MemoryUsers)
    few = MemoryUsers(everybody.users[:users])
    simulated = SimulatedClients(few, one_by_one(Randomness.seeded(seed)))
    reports = simulated.report_counts(HEAD_LIST)
    assert (reports.cell_reports, reports.query_reports) == (users - for_query, for_query)
    require_whole(reports)


def test_reports_one_by_one_are_as_many_as_reports_at_once(seed: int) -> None:
    randomness, made = Randomness.seeded(seed), clients(seed)
    true_counts = made.true_counts(HEAD_LIST)
    tables = reports_one_by_one(true_counts, HEAD_LIST, randomness)
    for question, blocks in tables.items():
        named = np.concatenate(list(blocks))
        assert len(named) == true_counts[question].sum()
        assert (named.sum(axis=1) == CHANNELS[question].subset_size).all()


def test_an_evaluation_draws_from_counts(seed: int) -> None:
    simulated = SimulatedClients(clients(seed).users, all_at_once(np.random.default_rng(seed)))
    reports = simulated.report_counts(HEAD_LIST)
    assert (reports.cell_reports, reports.query_reports) == (600, 200)
    require_whole(reports)


def test_counting_draws_from_the_source_that_is_passed_in(seed: int) -> None:
    true = np.array([5, 6, 7, 800, 0, 3])
    channel = CHANNELS["record"]
    true = np.append(true, np.zeros(channel.size - 6, dtype=np.int64))
    first, second = (subset_counts(true, channel, Randomness.seeded(seed)) for _ in range(2))
    assert first.tolist() == second.tolist()
