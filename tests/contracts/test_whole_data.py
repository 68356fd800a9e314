"""What every population answers about all rows of its opt-in users, not about a sample of them.

The expectations are worked out from the rows by hand. Who opted in is known from a group column,
or by naming every user in a query of their own.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contracts.logs import Opener, head_list_of, made_up_log
from contracts.populations import duckdb_csv, in_memory
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.population import OptInUsers, RecordSums, ShareSums
from blender_dp.engine.population.in_memory import LogRow

UNIT = 2**30
WEIGHTS = np.array([0, *(floor(UNIT / k**0.5) for k in range(1, 41))])
"""More than any user of these logs has: nobody is cut."""
CLASS_WIDTH = UNIT // 7


def records_by_user(rows: Sequence[LogRow]) -> dict[str, Counter[Record]]:
    """Return how often each opt-in user has each record."""
    by_user: dict[str, Counter[Record]] = {r.user: Counter() for r in rows if r.opt_in}
    for row in rows:
        if row.opt_in and row.query is not None and row.url is not None:
            by_user[row.user][Record(row.query, row.url)] += 1
    return by_user


def everything(sums: RecordSums) -> dict[Record, int]:
    """Return every record with its sum, by its classes."""
    classes = list(zip(*(c.tolist() for c in sums.classes()), strict=True))
    found = sums.fetch([(largest, np.arange(size)) for largest, size in classes])
    assert len(found) == len(dict(found)) == sum(size for _, size in classes)
    return dict(found)


def numbers(sums: ShareSums) -> tuple[list[int], int, int]:
    return sums.cells.tolist(), sums.record_squares, sums.query_squares


def test_records_of_public_names_are_asked_for_by_name(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    with shared(rows, seed, opt_in=None, all_rows=True) as population:
        users = population.opt_in
        for sums in (users.record_counts(1), users.record_weights(WEIGHTS, CLASS_WIDTH)):
            found = everything(sums)
            names = [Record("nobody", "has.example"), *found, Record(next(iter(found)).query, "?")]
            assert sums.sums_of(names).tolist() == [found.get(name, 0) for name in names]


def test_distinct_records_are_those_of_the_rows(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    found = Counter(min(len(own), 4) for own in records_by_user(rows).values())
    with shared(rows, seed, opt_in=None, all_rows=True) as population:
        counts = population.opt_in.distinct_records(4)
        assert counts.tolist() == [found[k] for k in range(5)]
        assert counts[0] > 0, "some users have no record"
        assert population.opt_in.distinct_records(1).tolist() == [counts[0], counts[1:].sum()]


def test_weights_without_a_cut_are_those_of_the_rows(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    expected: Counter[Record] = Counter()
    for own in records_by_user(rows).values():
        expected.update(dict.fromkeys(own, int(WEIGHTS[len(own)])))
    with shared(rows, seed, opt_in=None, all_rows=True) as population:
        assert everything(population.opt_in.record_weights(WEIGHTS, 1)) == expected


def test_without_urls_a_users_records_are_their_queries(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    expected: Counter[Record] = Counter()
    for own in records_by_user(rows).values():
        queries = {Record(record.query, "-") for record in own}
        expected.update(dict.fromkeys(queries, int(WEIGHTS[len(queries)])))
    with shared(rows, seed, opt_in=None, all_rows=True) as population:
        users = population.opt_in
        assert everything(users.without_urls().record_weights(WEIGHTS, 1)) == expected
        found = everything(users.record_counts(1))
        by_query, largest = Counter[str](), Counter[str]()
        for record, count in found.items():
            by_query[record.query] += count
            largest[record.query] = max(largest[record.query], count)
        drawn = everything(users.without_urls().record_counts(1))
        assert drawn == {Record(query, "-"): n for query, n in by_query.items()}
        values, queries_with = users.record_counts(1).largest_by_query()
        sizes = dict(zip(values.tolist(), queries_with.tolist(), strict=True))
        assert sizes == Counter(largest.values())


def test_a_class_holds_the_sums_up_to_its_largest(shared: Opener, seed: int) -> None:
    with shared(made_up_log(seed), seed, all_rows=True) as population:
        sums = population.opt_in.record_weights(WEIGHTS, CLASS_WIDTH)
        sizes = dict(zip(*(column.tolist() for column in sums.classes()), strict=True))
        assert list(sizes) == sorted(sizes)
        found = everything(sums)
        by_class = Counter(ceil(Fraction(s, CLASS_WIDTH)) * CLASS_WIDTH for s in found.values())
        assert by_class == sizes
        largest = max(sizes, key=lambda of_class: sizes[of_class])
        singly = [sums.fetch([(largest, np.array([at]))])[0] for at in range(sizes[largest])]
        assert len(dict(singly)) == sizes[largest] > 1
        assert all(largest - CLASS_WIDTH < found[record] == s <= largest for record, s in singly)
        assert sums.fetch([]) == []


@pytest.mark.parametrize("most", [1, 2])
def test_a_user_with_too_many_records_keeps_some_of_their_own(
    shared: Opener, seed: int, most: int
) -> None:
    """Every user has records of their own: each is seen, whole, in the sums."""
    rows = [LogRow(f"{u}", f"{u}", f"{r % 4}", u % 2 == 0) for u in range(30) for r in range(6)]
    weights = np.array([0, 70, 50, 40])[: most + 1]
    with shared(rows, seed, opt_in=None, all_rows=True) as population:
        found = everything(population.opt_in.record_weights(weights, 1))
        assert set(found.values()) == {int(weights[most])}
        assert Counter(record.query for record in found) == {f"{u}": most for u in range(0, 30, 2)}


def brute_force_shares(rows: Sequence[LogRow], head_list: HeadList, unit: int) -> ShareSums:
    """Follow the definition record by record, in fractions."""
    listed = dict(zip(head_list.records(), head_list.cells.listed.tolist(), strict=True))
    by_cell, squares = Counter[int](), Counter[str]()
    for own in records_by_user(rows).values():
        shares = {r: floor(Fraction(unit * n, own.total())) for r, n in own.items()}
        by_query = Counter[str]()
        for record, share in shares.items():
            if record.query in head_list.queries:
                q = head_list.queries.index(record.query)
                by_cell[listed.get(record, int(head_list.cells.star_of_query[q]))] += share
                by_query[record.query] += share
        of_records = sum(floor(Fraction(s * s, unit)) for r, s in shares.items() if r in listed)
        squares["records"] += min(unit, of_records)
        squares["queries"] += min(unit, sum(s * s // unit for s in by_query.values()))
    other = head_list.cells.other
    by_cell[other] = unit * len(records_by_user(rows)) - by_cell.total()
    return ShareSums(
        cells=np.array([by_cell[c] for c in range(other + 1)]),
        record_squares=squares["records"],
        query_squares=squares["queries"],
    )


@pytest.mark.parametrize("unit", [UNIT, 7])
def test_shares_are_those_of_the_rows(shared: Opener, seed: int, unit: int) -> None:
    rows = made_up_log(seed)
    head_list = head_list_of(rows, 9)
    with shared(rows, seed, opt_in=None, all_rows=True) as population:
        found = population.opt_in.share_sums(head_list, unit)
        assert numbers(found) == numbers(brute_force_shares(rows, head_list, unit))
        assert found.cells.sum() == unit * population.opt_in.size


def test_shares_are_floors_where_doubles_round_up(opened: Opener, seed: int) -> None:
    """Rows in numbers whose shares do not divide evenly, and a square just below a multiple."""
    rows = [LogRow("a", "q", f"{i % 3}", opt_in=True) for i in range(1, 8)]
    rows += [LogRow("b", "q", "0", opt_in=True)] * 3 + [LogRow("c", None, None, opt_in=True)]
    rows += [LogRow(f"client {i}", "q", "0", opt_in=False) for i in range(2)]
    head_list = head_list_of([LogRow("a", "q", "a")], 1)
    with opened(rows, seed, opt_in=None, all_rows=True) as population:
        for unit in (UNIT, UNIT - 1, 3):
            found = population.opt_in.share_sums(head_list, unit)
            assert numbers(found) == numbers(brute_force_shares(rows, head_list, unit))


def test_a_list_of_nothing_leaves_all_shares_in_the_last_cell(shared: Opener, seed: int) -> None:
    rows = made_up_log(seed)
    with shared(rows, seed, all_rows=True) as population:
        found = population.opt_in.share_sums(head_list_of(rows, 0), UNIT)
        assert numbers(found) == ([UNIT * population.opt_in.size], 0, 0)


def test_users_without_any_record_have_nothing_to_add(opened: Opener, seed: int) -> None:
    rows = [LogRow(f"{u}", None, None, u < 4) for u in range(9)]
    listed = head_list_of([LogRow("a", "q", "a")], 1)
    with opened(rows, seed, opt_in=None, all_rows=True) as population:
        users = population.opt_in
        assert users.distinct_records(2).tolist() == [4, 0, 0]
        assert users.record_weights(WEIGHTS, 5).classes()[0].tolist() == []
        assert numbers(users.share_sums(listed, UNIT)) == ([0, 0, 4 * UNIT], 0, 0)


Answers = dict[str, Any]


def answers(users: OptInUsers, head_list: HeadList, records_per_user: int) -> Answers:
    """Return what is told about these users."""
    found: Answers = {
        "size": users.size,
        "shares": numbers(users.share_sums(head_list, UNIT)),
        "cells": users.cell_counts(head_list, records_per_user).tolist(),
    }
    for most in (2, 40):
        sums = users.record_weights(WEIGHTS[: most + 1], CLASS_WIDTH)
        classes = [column.tolist() for column in sums.classes()]
        found[f"distinct up to {most}"] = users.distinct_records(most).tolist()
        found[f"classes up to {most}"] = classes
        found[f"first up to {most}"] = sorted(sums.fetch([(at, np.arange(1)) for at in classes[0]]))
        found[f"weights up to {most}"] = everything(sums)
    return found


@pytest.mark.parametrize("records_per_user", [1, 3])
def test_same_rows_and_seed_give_the_oracles_answers(
    shared: Opener, seed: int, tmp_path: Path, records_per_user: int
) -> None:
    """All users and both parts of a split, of which also the sums must add up."""
    rows = made_up_log(seed)
    head_list = head_list_of(rows, 9)
    found = []
    for kind in (shared, lambda *a, **k: in_memory(a[0], Randomness.seeded(a[1]), tmp_path, **k)):
        how = {"opt_in": 0.3, "records_per_user": records_per_user, "all_rows": True}
        with kind(rows, seed, **how) as population:
            users = (population.opt_in, *population.opt_in.split(0.6))
            found.append([answers(part, head_list, records_per_user) for part in users])
    assert found[0] == found[1]
    assert_adds_up(*found[0])


def assert_adds_up(whole: Answers, s: Answers, t: Answers) -> None:
    """Fail unless the parts of a split have what the whole has."""
    assert whole["size"] == s["size"] + t["size"]
    (cells, *squares), *parts = (users["shares"] for users in (whole, s, t))
    assert cells == [sum(of) for of in zip(*(part[0] for part in parts), strict=True)]
    assert squares == [sum(of) for of in zip(*(part[1:] for part in parts), strict=True)]
    for name in ("cells", "distinct up to 2", "distinct up to 40"):
        assert whole[name] == [sum(of) for of in zip(s[name], t[name], strict=True)]
    for name in ("weights up to 2", "weights up to 40"):
        assert Counter(s[name]) + Counter(t[name]) == whole[name]


def test_what_was_not_read_cannot_be_asked_about(tmp_path: Path, seed: int) -> None:
    rows = made_up_log(seed, users=40)
    with (
        duckdb_csv(rows, Randomness.seeded(seed), tmp_path, opt_in=0.3) as population,
        pytest.raises(BrokenInvariantError, match="opened with all_rows"),
    ):
        population.opt_in.distinct_records(1)


searches = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")) | st.none(), min_size=1, max_size=9
)
NEIGHBOURS = HeadList.of(
    [Record("a", "x"), Record("a", "y"), Record("b", "x")],
    mechanism=head_list_of([], 0).mechanism,
    private=False,
)


def with_one_user(data: list[tuple[str, str] | None], seed: int) -> tuple[ShareSums, IntArray]:
    """Return what five users and one with this data add up to: shares, and weights as a vector."""
    others = [LogRow(f"{u}", "a", f"{u % 2}", u < 4) for u in range(6)]
    own = [LogRow("7", q, u, opt_in=True) for q, u in (record or (None, None) for record in data)]
    rows = [*others, *own]
    population = in_memory(rows, Randomness.seeded(seed), Path(), opt_in=None)
    with population as opened:
        weights = everything(opened.opt_in.record_weights(WEIGHTS[:3], 1))
        names = [Record(q, u) for q in "abc" for u in [*"xyz", "0", "1"]]
        vector = np.array([weights.get(name, 0) for name in names])
        return opened.opt_in.share_sums(NEIGHBOURS, UNIT), vector


@given(one=searches, other=searches, seed=st.integers(0, 9))
def test_one_users_data_moves_the_sums_by_no_more_than_the_proofs_say(
    one: list[tuple[str, str] | None], other: list[tuple[str, str] | None], seed: int
) -> None:
    """Shares by 2 units in L1, weights by √2 units in L2, each scalar by one unit."""
    (shares, weights), (new_shares, new_weights) = (with_one_user(d, seed) for d in (one, other))
    assert np.abs(shares.cells - new_shares.cells).sum() <= 2 * UNIT
    assert sum(int(d) ** 2 for d in weights - new_weights) <= 2 * UNIT**2
    assert abs(shares.record_squares - new_shares.record_squares) <= UNIT
    assert abs(shares.query_squares - new_shares.query_squares) <= UNIT
