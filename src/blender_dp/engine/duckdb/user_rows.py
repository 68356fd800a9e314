"""Rows of a log by user in DuckDB: its tables around the numbered rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from blender_dp.engine.duckdb.numbered_rows import NumberedRows, column_of
from blender_dp.engine.tables import Frame

_ROWS_PER_BATCH = 1 << 16
"""Few enough for the processor's cache."""
_ROWS_PER_COPY = 1 << 18
_OTHER = np.int8(2)
"""Rank of a record that was not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DuckDBUserRows:
    """Rows by user; a user's key is the user's number."""

    rows: NumberedRows
    users: Frame
    fetch: Callable[[Frame], pa.Table]
    copy: Callable[[Iterable[pa.Table]], Frame]
    """Puts rows, piece by piece, into a table of the database."""

    @property
    def last_row(self) -> int | None:
        """The largest row."""
        return self.rows.last_row

    def drawn(self, users: Frame, *, all_before: int) -> Frame:
        """Return position, row and rank of the record that ``number`` names, and of all others."""
        wanted = self.fetch(users.select("user_key", "number", "position"))
        keys, numbers, positions = (column.to_numpy() for column in wanted.columns)
        position_of = np.zeros(keys.max(initial=0) + 1, dtype=np.int32)
        position_of[keys] = positions
        return self._copied(
            {"position": position_of[own], "row": rows, "rank": _OTHER - is_drawn.astype(np.int8)}
            for own, rows, is_drawn in self.rows.drawn(keys, numbers, positions < all_before)
        )

    def all_of(self, users: Frame) -> Frame:
        """Return every record of these users: the users' columns, row and number."""
        keys = self.fetch(users.select("user_key")).column(0).to_numpy()
        found = self._copied(
            {"user_key": own.astype(np.int64), "row": rows, "number": numbers}
            for own, rows, numbers in self.rows.all_of(keys)
        )
        return found.join(users, on="user_key", how="inner")

    def _copied(self, pieces: Iterable[dict[str, npt.NDArray[np.signedinteger]]]) -> Frame:
        """Put pieces, at least one, into one table."""
        columns = ({name: column_of(of) for name, of in piece.items()} for piece in pieces)
        return self.copy(_joined(map(pa.table, columns)))


def _joined(pieces: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the same rows in fewer pieces: each is copied by a statement of its own."""
    held: list[pa.Table] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= _ROWS_PER_COPY:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def batches_of(log: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a log in their order.

    Raises:
        duckdb.Error: The log cannot be read.
    """
    reader = log.to_arrow_reader(_ROWS_PER_BATCH)
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except (OSError, pa.ArrowException) as error:
            raise _of_duckdb(str(error)) from None
        yield batch


def _of_duckdb(message: str) -> duckdb.Error:
    """Return the error that Arrow passes on as a message."""
    if "interrupted" in message.lower():
        return duckdb.InterruptException(message)
    if message.startswith("Out of Memory"):
        return duckdb.OutOfMemoryException(message)
    return duckdb.Error(message)
