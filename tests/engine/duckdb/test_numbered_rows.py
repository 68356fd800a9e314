"""Rows by user, against a loop over the rows."""

import weakref
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.errors import BlenderError
from blender_dp.engine.duckdb import numbered_rows
from blender_dp.engine.duckdb.number_file import NumberFile
from blender_dp.engine.duckdb.numbered_rows import NumberedRows
from blender_dp.engine.duckdb.user_numbers import UserNumbers

Row = tuple[int, int, bool]
"""Key of the user, row, and whether it is no record."""
LAST_KEY = 2**63 - 1


def rows_of(users: Sequence[tuple[int, int, bool]]) -> list[Row]:
    """Return rows with these steps between them."""
    at = np.cumsum([step for _, step, _ in users]) - 1
    return [(key, int(row), blank) for (key, _, blank), row in zip(users, at, strict=True)]


def numbered(rows: Sequence[Row], *, batch: int, directory: Path | None = None) -> NumberedRows:
    """Add rows, a batch at once."""
    found = NumberedRows(directory)
    for start in range(0, len(rows), batch):
        keys, numbers, blanks = zip(*rows[start : start + batch], strict=True)
        columns = {"user_key": pa.array(keys, pa.int64()), "row": pa.array(numbers, pa.int64())}
        if any(blank for _, _, blank in rows):
            columns["is_blank"] = pa.array(blanks)
        assert found.add(pa.record_batch(columns))
    return found


def assert_same(rows: Sequence[Row], found: NumberedRows) -> None:
    """Compare users, one record of each, and all records of every other user with a loop."""
    records: dict[int, list[int]] = {key: [] for key, _, _ in rows}
    for key, row, blank in rows:
        records[key] += [] if blank else [row]
    key_at = {row: key for key, row, _ in rows}
    users = found.users().to_pylist()
    key_of = {user["user_key"]: key_at[user["row"]] for user in users}
    assert {key_of[user["user_key"]]: user["records"] for user in users} == {
        key: len(own) for key, own in records.items()
    }
    some = [user["user_key"] for user in users if user["records"]]
    numbers = [(7 * key) % len(records[key_of[key]]) for key in some]
    number_of = dict(zip(some, numbers, strict=True))
    for whole in (set[int](), set(some[::2]), set(some)):
        drawn = found.drawn(
            np.array(some, dtype=np.int64),
            np.array(numbers, dtype=np.int64),
            np.array([key in whole for key in some], dtype=np.bool_),
        )
        got = [row for piece in drawn for row in zip(*(of.tolist() for of in piece), strict=True)]
        expected = [
            (key, row, number == number_of[key])
            for key in some
            for number, row in enumerate(records[key_of[key]])
            if key in whole or number == number_of[key]
        ]
        assert sorted(got) == sorted(expected)
    own: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for piece in found.all_of(np.array(some[::2], dtype=np.int64)):
        for user, row, number in zip(*(column.tolist() for column in piece), strict=True):
            own[key_of[user]].append((number, row))
    assert own == {key_of[key]: list(enumerate(records[key_of[key]])) for key in some[::2]}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few rows fill several pieces."""
    monkeypatch.setattr(numbered_rows, "_FEWEST_AT_ONCE", 4)


KEYS = st.one_of(st.integers(0, 3), st.sampled_from([1 << 13, 1 << 40, LAST_KEY, LAST_KEY - 1]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(KEYS, st.integers(1, 2), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_records_are_numbered_as_a_loop_would(
    users: list[tuple[int, int, bool]], batch: int, has_gaps: bool, has_blank: bool
) -> None:
    rows = rows_of([(key, step if has_gaps else 1, b and has_blank) for key, step, b in users])
    assert_same(rows, numbered(rows, batch=batch))


@pytest.mark.parametrize("is_ordered", [False, True])
def test_many_users_are_numbered_as_a_loop_would(tmp_path: Path, *, is_ordered: bool) -> None:
    """More users than 16 bits number, and than the first table of keys holds."""
    keys = np.random.default_rng(4).integers(0, 90_000, 200_000) * ((1 << 44) + 3)
    rows = [(int(key), row, False) for row, key in enumerate(sorted(keys) if is_ordered else keys)]
    assert_same(rows, numbered(rows, batch=60_000, directory=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_rows_that_come_out_of_order_are_not_added() -> None:
    found = numbered(rows_of([(1, 1, False), (2, 5, False)]), batch=2)
    for rows in ([5], [3], [7, 6]):
        batch = {"user_key": [1] * len(rows), "row": rows}
        assert not found.add(pa.record_batch(batch))
    assert found.last_row == 5
    assert found.users()["records"].to_pylist() == [1, 1]


def test_a_full_disk_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Path("/dev/full").open("r+b", 0)  # noqa: SIM115 - closed with the NumberFile
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: full)
    with pytest.raises(BlenderError) as caught:
        NumberFile(tmp_path).append(np.zeros(9, dtype=np.uint32))
    assert str(caught.value) == "the disk is full: the log's working copy needs more room"


def test_users_for_the_same_slot_have_numbers_of_their_own() -> None:
    numbers, keys = UserNumbers(), np.arange(3000, dtype=np.int64) << 20
    first, new = numbers.of(keys)
    again, none = numbers.of(keys[::-1].copy())
    assert sorted(first.tolist()) == list(range(1, 3001))
    assert new.tolist() == np.argsort(first).tolist()
    assert again.tolist() == first[::-1].tolist()
    assert len(none) == 0


def test_the_table_of_users_is_freed_when_the_rows_are_read() -> None:
    numbers = UserNumbers()
    numbers.of(np.arange(100_000, dtype=np.int64))
    keys, slots = weakref.ref(numbers._keys), weakref.ref(numbers._slots)
    numbers.free()
    assert keys() is None
    assert slots() is None
    assert numbers.count == 100_000
