"""A log as integers: what is drawn, what is true, and users without records."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.head_list import HeadList, Record
from blender_dp.core.mechanism import LocalAlgMechanism
from blender_dp.core.parameters import Parameters
from blender_dp.core.randomness import Randomness
from blender_dp.evaluation.coded_log import CodedLog, CodedPopulation, CodedUsers
from exact_tests import assert_frequencies

MECHANISM = LocalAlgMechanism.of(Parameters(epsilon=4, delta=1e-5))
rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=12)


def small_log() -> CodedLog:
    """Return two users with records, ⟨0,5⟩ ⟨0,5⟩ ⟨1,5⟩ and ⟨0,7⟩, and two without."""
    user, query, url = np.array([[9, 40, 5], [9, 40, 5], [4, 40, 7], [9, 30, 5]]).T
    return CodedLog.of(user, query, url, users_without_records=2)


def listing(log: CodedLog, codes: list[int]) -> HeadList:
    return HeadList.of([log.name(c) for c in codes], mechanism=MECHANISM, private=False)


def test_users_without_records_are_everything_else_by_hand() -> None:
    """Four users. ⟨0,5⟩: 2/3 of one, so 2/12; ⟨0,7⟩: one, so 3/12; ⟨1,5⟩: 1/12; nothing: 6/12.

    With only ⟨0,5⟩ listed: ⟨0,⋆⟩ has 3/12 and ⟨⋆,⋆⟩ 1/12 + 6/12.
    """
    log = small_log()
    assert log.users == 4
    assert [log.name(c) for c in range(3)] == [
        Record("000000000", "000000005"),
        Record("000000000", "000000007"),
        Record("000000001", "000000005"),
    ]
    np.testing.assert_allclose(log.probability * 12, [2, 3, 1])
    np.testing.assert_allclose(log.true_cells(listing(log, [0])) * 12, [2, 3, 7])
    truth = log.query_truth(listing(log, [0]))
    np.testing.assert_allclose(truth.probability * 12, [5, 1])
    assert truth.is_listed.tolist() == [True, False]


def test_a_user_without_records_is_counted_but_never_discovered() -> None:
    log = small_log()
    users = CodedUsers(log, log.draw_records(np.random.default_rng(0)))
    assert users.size == 4
    assert users.drawn[2:].tolist() == [log.no_record] * 2
    counts, sizes = users.record_counts(1).classes()
    assert counts @ sizes == 2
    head_list = listing(log, [0, 1, 2])
    assert users.cell_counts(head_list, 1)[-1] == 2
    assert users.cell_counts(head_list, 1).sum() == 4


def test_a_log_of_nobody_with_a_record_lists_nothing() -> None:
    nothing = np.array([], dtype=np.int64)
    log = CodedLog.of(nothing, nothing, nothing, users_without_records=3)
    users = CodedUsers(log, log.draw_records(np.random.default_rng(0)))
    assert users.record_counts(1).classes()[0].size == 0
    assert log.true_cells(listing(log, [])).tolist() == [1.0]
    assert users.cell_counts(listing(log, []), 1).tolist() == [3]


def test_every_record_of_a_user_is_drawn_as_often_as_it_occurs(seed: int) -> None:
    log, rng = small_log(), np.random.default_rng(seed)
    first_user = Counter(int(log.draw_records(rng)[0]) for _ in range(20_000))
    assert_frequencies(first_user, {1: 1.0})  # user 4, whose code is the smaller
    second_user = Counter(int(log.draw_records(rng)[1]) for _ in range(20_000))
    assert_frequencies(second_user, {0: 2 / 3, 2: 1 / 3})


@given(rows=rows, without=st.integers(0, 3), draw=st.integers(0, 99))
def test_truth_and_counts_add_up_to_everybody(
    rows: list[tuple[int, int, int]], without: int, draw: int
) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    log = CodedLog.of(*columns, users_without_records=without)
    if not log.users:
        return
    head_list = listing(log, list(range(0, log.no_record, 2)))
    users = CodedUsers(log, log.draw_records(np.random.default_rng(draw)))
    assert abs(log.true_cells(head_list).sum() - 1) < 1e-9
    assert users.cell_counts(head_list, 1).sum() == log.users == len({r[0] for r in rows}) + without
    assert abs(log.query_truth(head_list).probability.sum() + without / log.users - 1) < 1e-9


def test_the_clients_are_those_who_did_not_opt_in() -> None:
    log = CodedLog.of(np.arange(50), np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64))
    coins = Randomness.seeded(1)
    population = CodedPopulation.draw(log, opt_in=0.2, seed=1, randomness=coins)
    assert (population.opt_in.size, population.clients.size) == (10, 40)
    assert population.clients.report_counts(listing(log, [0])).sum() == 40
