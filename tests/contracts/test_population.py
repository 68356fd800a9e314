"""What every population must do, whatever holds the data."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from contracts.logs import MECHANISM, Opener, head_list_of, made_up_log
from contracts.populations import in_memory

from blender_dp.core.blender import BlenderResult, blender
from blender_dp.core.errors import BlenderError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.in_memory import LogRow
from exact_tests import FALSE_ALARM, assert_frequencies


@pytest.mark.parametrize("records_per_user", [1, 3])
def test_every_sampled_record_is_counted_in_exactly_one_cell(
    shared: Opener, seed: int, records_per_user: int
) -> None:
    rows = made_up_log(seed)
    with shared(rows, seed, records_per_user=records_per_user) as population:
        users = population.opt_in
        counts = users.cell_counts(head_list_of(rows, 9), records_per_user)
        assert counts.sum() == records_per_user * users.size
        assert counts.min() >= 0
        number, size = users.record_counts(records_per_user).classes()
        assert (number * size).sum() <= records_per_user * users.size


def test_class_sizes_and_fetched_records_agree(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    with shared(rows, seed) as population:
        counts = population.opt_in.record_counts(1)
        classes = list(zip(*(c.tolist() for c in counts.classes()), strict=True))
        everything = counts.fetch([(count, np.arange(size)) for count, size in classes])
        assert len(everything) == len(set(everything)) == sum(size for _, size in classes)
        for count, size in classes:
            assert [total for _, total in counts.fetch([(count, np.arange(size))])] == [
                count
            ] * size
        assert {r for r, _ in everything} <= {
            Record(r.query, r.url) for r in rows if r.query and r.url
        }


def test_the_two_parts_of_a_split_are_the_whole(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    head_list = head_list_of(rows, 9)
    with shared(rows, seed) as population:
        s, t = population.opt_in.split(0.95)
        assert s.size + t.size == population.opt_in.size
        assert s.size == round(0.95 * population.opt_in.size)
        together = s.cell_counts(head_list, 1) + t.cell_counts(head_list, 1)
        assert together.tolist() == population.opt_in.cell_counts(head_list, 1).tolist()


def test_a_list_of_nothing_puts_everybody_in_the_last_cell(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    with shared(rows, seed) as population:
        counts = population.opt_in.cell_counts(head_list_of(rows, 0), 1)
        assert counts.tolist() == [population.opt_in.size]


def test_group_sizes_are_the_share_asked_for(shared: Opener, seed: int) -> None:
    with shared(made_up_log(seed), seed, opt_in=0.25) as population:
        assert (population.opt_in.size, population.clients.size) == (150, 450)


def test_a_group_column_decides_who_is_who(opened: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    with opened(rows, seed, opt_in=None) as population:
        assert (population.opt_in.size, population.clients.size) == (200, 400)
        s, t = population.opt_in.split(0.5)
        found = s.record_counts(1).fetch([(1, np.arange(1))]) if s.size else []
        opted_in = {Record(r.query, r.url) for r in rows if r.opt_in and r.query and r.url}
        assert {record for record, _ in found} <= opted_in
        assert s.size + t.size == 200


def test_every_client_sends_the_reports_asked_for(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    with shared(rows, seed) as population:
        reports = population.clients.report_counts(head_list_of(rows, 9))
        assert reports.cells.sum() == reports.cell_reports == population.clients.size
        assert (reports.queries.tolist(), reports.query_reports) == ([0] * 10, 0)


@pytest.mark.parametrize("fraction", [0.0001, 0.9999])
def test_a_group_without_users_is_refused(opened: Opener, seed: int, fraction: float) -> None:
    with (
        pytest.raises(BlenderError, match="both groups need users"),
        opened(made_up_log(seed), seed, opt_in=fraction),
    ):
        pass


def test_one_user_is_refused(opened: Opener, seed: int) -> None:
    with (
        pytest.raises(BlenderError, match="this log has 0 and 1"),
        opened([LogRow("only", "q", "u")], seed),
    ):
        pass


def outcome(result: BlenderResult) -> tuple[object, ...]:
    return (
        result.head_list,
        result.curated.candidate_records,
        result.curated.opt_in.counts.tolist(),
        result.clients.counts.tolist(),
    )


@pytest.mark.parametrize(("m_o", "m_c"), [(1, 1), (2, 1), (1, 3)])
def test_same_rows_and_seed_give_the_oracles_result(
    opened: Opener, seed: int, tmp_path: Path, m_o: int, m_c: int
) -> None:
    """Not only alike: equal, because all draw the same keys and the same noise."""
    rows = made_up_log(seed)
    parameters = Parameters(
        preset="paper",
        epsilon=4.0,
        delta=1e-2,
        head_list_size=12,
        records_per_optin_user=m_o,
        records_per_client=m_c,
    )
    results = []
    for kind in (opened, lambda *a, **k: in_memory(a[0], Randomness.seeded(a[1]), tmp_path, **k)):
        with kind(rows, seed, opt_in=0.5, records_per_user=max(m_o, m_c)) as population:
            results.append(blender(population, parameters, Randomness.seeded(seed + 1)))
    assert results[0].head_list.queries
    assert outcome(results[0]) == outcome(results[1])


N = 6_000


def drawn_rows(shared: Opener, seed: int) -> Counter[str]:
    """Return which of their four rows ``N`` like users had drawn."""
    rows = [LogRow(f"u{u}", "q", f"u{r}") for r in range(4) for u in range(N)]
    head_list = HeadList.of(
        [Record("q", f"u{r}") for r in range(4)], mechanism=MECHANISM, private=False
    )
    with shared(rows, seed, opt_in=0.9) as population:
        counts = population.opt_in.cell_counts(head_list, 1)
    return Counter({f"u{r}": int(counts[r]) for r in range(4)})


def test_each_of_a_users_records_is_equally_likely(shared: Opener, seed: int) -> None:
    """False alarm: FALSE_ALARM a population, exact binomial tails."""
    draws = drawn_rows(shared, seed)
    assert_frequencies(draws, {f"u{r}": 0.25 for r in range(4)}, FALSE_ALARM)


def test_a_preference_for_one_record_would_be_caught(shared: Opener, seed: int) -> None:
    draws = drawn_rows(shared, seed)
    expected = {"u0": 0.25 + 0.06, **{f"u{r}": 0.23 for r in range(1, 4)}}
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, expected, FALSE_ALARM)
