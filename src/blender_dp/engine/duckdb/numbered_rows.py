"""Rows of a log by user, without a sort: the user's number of every row, in a file of its own.

The file takes four bytes per row; what stays in memory grows with the number of users only. The
number of a record among its user's records is found by reading the file again and counting. Rows
of one user that follow one another are counted together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.engine.duckdb.number_file import NumberFile, UInt32Array
from blender_dp.engine.duckdb.runs import are_mostly_alone, lengths_from, run_starts
from blender_dp.engine.duckdb.user_numbers import UserNumbers

_BLANK = 1 << 31
"""Added to the user's number in a row that is not a record."""
_FEWEST_AT_ONCE = 1 << 20
"""Rows that are counted at once; with many users, at least half as many rows."""


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Records of one user that follow one another, many times."""

    users: UInt32Array
    places: IntArray
    """Of the first record of each, in its piece of the log."""
    lengths: IntArray

    def numbers(self, seen: IntArray) -> IntArray:
        """Return the number of the first record of each among its user's records.

        Args:
            seen: How many records of every user came before.
        """
        return seen[self.users] + totals_before(self.users, self.lengths)

    def only(self, is_wanted: BoolArray) -> "_Runs":
        """Return some of the runs."""
        return _Runs(self.users[is_wanted], self.places[is_wanted], self.lengths[is_wanted])

    def expanded(self, first: IntArray) -> tuple[UInt32Array, IntArray, IntArray]:
        """Return user, place and number of every record.

        Args:
            first: The number of the first record of each run.
        """
        ahead = np.arange(self.lengths.sum())
        ahead -= np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        places, numbers = (np.repeat(of, self.lengths) + ahead for of in (self.places, first))
        return np.repeat(self.users, self.lengths), places, numbers


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Consecutive records of a log."""

    users: UInt32Array
    """The user of every record."""
    first: int
    """The row of the first record."""
    numbers: IntArray | None
    """The row of every record, None if rows count up from the first without a gap."""
    runs: _Runs | None
    """None if it is shorter to take the records one by one."""

    @classmethod
    def of(cls, users: UInt32Array, first: int, numbers: IntArray | None) -> "_Piece":
        """Find the runs of one user's records."""
        if are_mostly_alone(users):
            return cls(users, first, numbers, None)
        places = run_starts(users)
        runs = _Runs(users[places], places, lengths_from(places, len(users)))
        return cls(users, first, numbers, runs)

    def rows(self, places: IntArray) -> IntArray:
        """Return the rows of the records at these places."""
        return places + self.first if self.numbers is None else self.numbers[places]

    def count(self, users: int) -> IntArray:
        """Return the number of records of every user."""
        if self.runs is None:
            return np.bincount(self.users, minlength=users)
        return np.bincount(self.runs.users, self.runs.lengths, minlength=users).astype(np.int64)

    def runs_of(self, is_chosen: BoolArray) -> _Runs:
        """Return the runs of chosen users."""
        if self.runs is None:
            places = np.flatnonzero(is_chosen[self.users])
            return _Runs(self.users[places], places, np.ones_like(places))
        return self.runs.only(is_chosen[self.runs.users])


class NumberedRows:
    """The user of every row, added in the order of the rows."""

    def __init__(self, directory: Path | None) -> None:
        """Begin without rows.

        Args:
            directory: Where the file is; None keeps it in memory.
        """
        self.last_row: int | None = None
        self._numbers = UserNumbers()
        self._users = NumberFile(directory)
        self._rows = NumberFile(directory)
        """Row numbers, unless rows count up from 0 without a gap."""
        self._has_gaps = False
        self._first: list[pa.Table] = []

    def add(self, batch: pa.RecordBatch) -> bool:
        """Add rows: user_key, row, perhaps is_blank, and what else is kept of a user's first row.

        Returns:
            False if the rows do not come after all others. They are not added then.
        """
        rows, keys = batch.column("row").to_numpy(), batch.column("user_key").to_numpy()
        before = -1 if self.last_row is None else self.last_row
        if not len(rows):
            return True
        if rows[0] <= before or not np.all(rows[1:] > rows[:-1]):
            return False
        self._keep_numbers(rows)
        if are_mostly_alone(keys):
            users, new = self._numbers.of(keys)
        else:
            starts = run_starts(keys)
            users, new = self._numbers.of(keys[starts])
            users, new = np.repeat(users, lengths_from(starts, len(keys))), starts[new]
        self._keep_first(batch, new)
        if "is_blank" in batch.schema.names:
            is_blank = batch.column("is_blank").to_numpy(zero_copy_only=False)
            users |= is_blank.astype(np.uint32) * np.uint32(_BLANK)
        self._users.append(users)
        self.last_row = int(rows[-1])
        return True

    def _keep_first(self, batch: pa.RecordBatch, places: IntArray) -> None:
        kept = {"row": column_of(batch.column("row").to_numpy()[places])}
        for name in {"user", "opt_in"} & set(batch.schema.names):
            kept[name] = batch.column(name).take(column_of(places))
        self._first.append(pa.table(kept))

    def _keep_numbers(self, rows: IntArray) -> None:
        before = self._users.count
        if not self._has_gaps and rows[-1] != before + len(rows) - 1:
            self._has_gaps = True
            for start in range(0, before, _FEWEST_AT_ONCE):
                stop = min(before, start + _FEWEST_AT_ONCE)
                self._rows.append(np.arange(start, stop, dtype=np.uint32))
        if self._has_gaps:
            self._rows.append(rows.astype(np.uint32))

    def users(self) -> pa.Table:
        """Return every user once: user_key (the number), records, and what is kept of a row.

        No row can be added afterwards.
        """
        self._numbers.free()
        counts = np.zeros(self._numbers.count + 1, dtype=np.int64)
        for piece in self._pieces():
            counts += piece.count(len(counts))
        keys = np.arange(1, len(counts))
        users = {"user_key": column_of(keys), "records": column_of(counts[1:])}
        if not self._first:
            return pa.table(users | {"row": column_of(keys[:0])})
        first = pa.concat_tables(self._first)
        return pa.table(users | dict(zip(first.column_names, first.columns, strict=True)))

    def drawn(
        self, users: IntArray, numbers: IntArray, is_whole: BoolArray
    ) -> Iterator[tuple[UInt32Array, IntArray, BoolArray]]:
        """Yield user, row, and whether it was drawn, of the drawn records and of whole users'.

        Args:
            users: Users, each once.
            numbers: Which record of each is drawn, from 0.
            is_whole: Whether all other records of the user are needed as well.
        """
        wanted = np.full(self._numbers.count + 1, -1, dtype=np.int64)
        wanted[users] = numbers
        whole = np.zeros(len(wanted), dtype=np.bool_)
        whole[users] = is_whole
        needed = self._numbered(lambda seen, after: whole | (seen <= wanted) & (wanted < after))
        for runs, first, piece in needed:
            in_whole = whole[runs.users]
            ahead = wanted[runs.users] - first
            is_hit = (ahead >= 0) & (ahead < runs.lengths) & ~in_whole
            hit = piece.rows((runs.places + ahead)[is_hit])
            yield runs.users[is_hit], hit, np.ones(len(hit), dtype=np.bool_)
            own, places, found = runs.only(in_whole).expanded(first[in_whole])
            yield own, piece.rows(places), wanted[own] == found

    def all_of(self, users: IntArray) -> Iterator[tuple[UInt32Array, IntArray, IntArray]]:
        """Yield users, rows and numbers of all records of some users."""
        is_chosen = np.zeros(self._numbers.count + 1, dtype=np.bool_)
        is_chosen[users] = True
        for runs, first, piece in self._numbered(lambda *_: is_chosen):
            own, places, numbers = runs.expanded(first)
            yield own, piece.rows(places), numbers

    def _numbered(
        self, choose: Callable[[IntArray, IntArray], BoolArray]
    ) -> Iterator[tuple[_Runs, IntArray, _Piece]]:
        """Yield runs of chosen users, the number of each one's first record, and their piece.

        Args:
            choose: Returns of which users records are needed, from how many records of every user
                came before a piece of the log, and how many up to its end.
        """
        seen = np.zeros(self._numbers.count + 1, dtype=np.int64)
        for piece in self._pieces():
            after = seen + piece.count(len(seen))
            chosen = piece.runs_of(choose(seen, after))
            yield chosen, chosen.numbers(seen), piece
            seen = after

    def _pieces(self) -> Iterator[_Piece]:
        """Yield the records, piece by piece."""
        size, first = max(_FEWEST_AT_ONCE, self._numbers.count // 2), 0
        own_rows = self._rows.pieces(size)
        for users in self._users.pieces(size):
            rows = next(own_rows).astype(np.int64) if self._has_gaps else None
            is_record = users < _BLANK
            if is_record.all():
                yield _Piece.of(users, first, rows)
            else:
                places = np.flatnonzero(is_record)
                numbers = places + first if rows is None else rows[places]
                yield _Piece.of(users[places], first, numbers)
            first += len(users)


def column_of(values: npt.NDArray[np.signedinteger]) -> pa.Array:
    """Return numbers as a column. ``pyarrow.array`` imports masked arrays first, for 0.05 s."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def totals_before(users: UInt32Array, lengths: IntArray) -> IntArray:
    """Return for every place the total length of the places before it with the same user.

    >>> totals_before(np.array([7, 9, 7, 7], dtype=np.uint32), np.array([5, 1, 2, 1])).tolist()
    [0, 0, 5, 7]
    """
    order = _stable_order(users)
    ordered = lengths[order]
    total = np.cumsum(ordered) - ordered
    starts = run_starts(users[order])
    total -= np.repeat(total[starts], lengths_from(starts, len(users)))
    before = np.empty_like(total)
    before[order] = total
    return before


def _stable_order(users: UInt32Array) -> IntArray:
    """Return the places in the order of their users; numpy sorts values faster than places."""
    keyed = users.astype(np.int64) << 32 | np.arange(len(users))
    keyed.sort()
    return keyed & 0xFFFFFFFF
