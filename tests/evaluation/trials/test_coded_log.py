"""A log as integers: what is drawn, what is true, and users without records."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import (
    CodedPopulation,
    CodedRecordSums,
    CodedUsers,
)
from exact_tests import FALSE_ALARM, assert_frequencies

MECHANISM = LocalAlgMechanism.of(Parameters(preset="paper", epsilon=4, delta=1e-5))
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
    users = CodedUsers.drawn_from(log, 0)
    assert users.size == 4
    assert users.drawn[users.user >= 2].tolist() == [log.no_record] * 2
    counts, sizes = users.record_counts(1).classes()
    assert counts @ sizes == 2
    head_list = listing(log, [0, 1, 2])
    assert users.cell_counts(head_list, 1)[-1] == 2
    assert users.cell_counts(head_list, 1).sum() == 4


def test_a_log_of_nobody_with_a_record_lists_nothing() -> None:
    nothing = np.array([], dtype=np.int64)
    log = CodedLog.of(nothing, nothing, nothing, users_without_records=3)
    users = CodedUsers.drawn_from(log, 0)
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
    users = CodedUsers.drawn_from(log, draw)
    assert abs(log.true_cells(head_list).sum() - 1) < 1e-9
    assert users.cell_counts(head_list, 1).sum() == log.users == len({r[0] for r in rows}) + without
    assert abs(log.query_truth(head_list).probability.sum() + without / log.users - 1) < 1e-9


def test_the_clients_are_those_who_did_not_opt_in() -> None:
    log = CodedLog.of(np.arange(50), np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64))
    coins = Randomness.seeded(1)
    population = CodedPopulation.draw(log, opt_in=0.2, seed=1, randomness=coins)
    assert (population.opt_in.size, population.clients.size) == (10, 40)
    assert population.clients.report_counts(listing(log, [0])).cell_reports == 40


UNIT = 2**30
WEIGHTS = np.array([0, 900, 700, 500, 400, 300, 200, 150, 120, 100, 90, 80, 70])


def everything(sums: CodedRecordSums) -> dict[Record, int]:
    """Return every record with its sum, by its classes."""
    classes = list(zip(*(c.tolist() for c in sums.classes()), strict=True))
    found = sums.fetch([(largest, np.arange(size)) for largest, size in classes])
    assert len(found) == len(dict(found)) == sum(size for _, size in classes)
    for largest, size in classes:
        found_there = sums.fetch([(largest, np.arange(size))])
        assert all(largest - sums.class_width < total <= largest for _, total in found_there)
    return dict(found)


def own_records(log: CodedLog, user: int) -> Counter[Record]:
    rows = log.row_record[log.first_row[user] : log.first_row[user + 1]]
    return Counter(log.name(code) for code in rows.tolist())


@given(rows=rows, without=st.integers(0, 3), draw=st.integers(0, 99), start=st.integers(0, 3))
def test_questions_about_whole_data_are_answered_by_their_definitions(
    rows: list[tuple[int, int, int]], without: int, draw: int, start: int
) -> None:
    """Each answer is worked out again from the rows of the users asked."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    log = CodedLog.of(*columns, users_without_records=without)
    users = CodedUsers.drawn_from(log, draw).between(start, log.users)
    own = [own_records(log, user) for user in users.user.tolist()]
    numbers = Counter(min(len(records), 2) for records in own)
    assert users.distinct_records(2).tolist() == [numbers[k] for k in range(3)]

    weights: Counter[Record] = Counter()
    for records in own:
        weights.update(dict.fromkeys(records, int(WEIGHTS[len(records)])))
    assert everything(users.record_weights(WEIGHTS, 1)) == weights
    assert everything(users.record_weights(WEIGHTS, 37)) == weights

    head_list = listing(log, list(range(0, log.no_record, 2)))
    index = head_list.cell_index()
    cells, record_squares, query_squares = Counter[int](), 0, 0
    for records in own:
        shares = {record: UNIT * n // records.total() for record, n in records.items()}
        queries: Counter[str] = Counter()
        for record, share in shares.items():
            cells[index.cell(*record)] += share
            queries[record.query] += share
        record_squares += sum(f * f // UNIT for r, f in shares.items() if r in index.listed)
        query_squares += sum(f * f // UNIT for q, f in queries.items() if q in index.star)
    cells[index.other] += UNIT * users.size - cells.total()
    found = users.share_sums(head_list, UNIT)
    assert found.cells.tolist() == [cells[cell] for cell in range(index.other + 1)]
    assert (found.record_squares, found.query_squares) == (record_squares, query_squares)


def crowded_log(users: int) -> CodedLog:
    """Return users with five records each, the first of them in half of the rows."""
    record = np.tile([0, 0, 0, 0, 1, 2, 3, 4], users)
    return CodedLog.of(np.repeat(np.arange(users), 8), np.zeros_like(record), record)


def kept_records(seed: int, users: int = 4_000) -> Counter[str]:
    """Return which records are kept, when each user keeps two of five."""
    log = crowded_log(users)
    sums = everything(CodedUsers.drawn_from(log, seed).record_weights(np.array([0, 9, 1]), 1))
    assert sum(sums.values()) == 2 * users
    return Counter({record.url: total for record, total in sums.items()})


def assert_kept_alike(kept: Counter[str], users: int = 4_000) -> None:
    """Fail if a record is not with two users in five: false alarm FALSE_ALARM, exact tails."""
    for url, number in kept.items():
        draws = Counter({url: number, "other": users - number})
        assert_frequencies(draws, {url: 0.4, "other": 0.6}, FALSE_ALARM / 5)


def test_which_records_are_kept_does_not_depend_on_how_often_they_occur(seed: int) -> None:
    assert_kept_alike(kept_records(seed))


def test_keeping_the_records_of_drawn_rows_would_be_caught(seed: int) -> None:
    """Frequent records would be kept by more: the first by 1/2 + 1/2·4/7 of the users."""
    log, rng = crowded_log(4_000), np.random.default_rng(seed)
    kept: Counter[str] = Counter()
    for user in range(log.users):
        rows = log.row_record[log.first_row[user] : log.first_row[user + 1]]
        drawn = dict.fromkeys(rng.permutation(rows).tolist())
        kept.update(log.name(code).url for code in list(drawn)[:2])
    with pytest.raises(AssertionError, match="expected"):
        assert_kept_alike(kept)


def test_asking_twice_gives_the_same_sums(seed: int) -> None:
    users = CodedUsers.drawn_from(crowded_log(30), seed)
    first, second = (everything(users.record_weights(np.array([0, 9, 1]), 1)) for _ in range(2))
    assert first == second
