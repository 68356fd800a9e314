"""DuckDB engine: tables with a memory limit, spilling to disk beyond it."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import duckdb
import narwhals as nw
import pyarrow as pa

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import (
    BlenderError,
    BrokenInvariantError,
    ParameterError,
    TooMuchForMemoryError,
)
from blender_dp.engine.duckdb.interruption import interruptible
from blender_dp.engine.duckdb.number_file import DISK_IS_FULL
from blender_dp.engine.duckdb.numbered_rows import NumberedRows
from blender_dp.engine.duckdb.readers import LogSource, explain_failure
from blender_dp.engine.duckdb.user_rows import DuckDBUserRows, batches_of
from blender_dp.engine.tables import Frame

_TABLE = "TABLE_RELATION"
"""What DuckDB calls a relation that is a table and needs no query."""
Percent = Callable[[float], None]
"""Called with the progress of the current query, from 0 to 100."""


def default_memory_limit() -> int:
    """Return half of the machine's memory, in bytes; the rest is for the system and its cache."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def connect(spill_directory: Path | None, memory_limit: int) -> duckdb.DuckDBPyConnection:
    """Open an empty database with a memory limit; beyond it, it spills to disk or fails.

    Rows keep the order of their files, because a row's number is its identity.

    Args:
        spill_directory: Directory for data beyond the limit; None fails instead of writing to disk.
        memory_limit: In bytes.
    """
    if not 64 << 20 <= memory_limit <= 1 << 60:
        raise ParameterError("memory_limit", "from 64 MiB to 1 EiB", f"{memory_limit} bytes")
    connection = duckdb.connect(":memory:")
    connection.execute("SET preserve_insertion_order = true")
    # A time as text must not depend on where the machine stands.
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET memory_limit = $1", [f"{memory_limit}B"])
    connection.execute("SET temp_directory = $1", [str(spill_directory or "")])
    # Joins here have the larger side on the left, and DuckDB hashes the right one. Its optimiser
    # would swap them, because it takes text files for small, and would hash the whole log.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    # Reading ahead takes 60 MB and saves nothing: files are on this machine.
    connection.execute("SET disable_parquet_prefetching = true")
    return connection


class DuckDBTables:
    """One log and the tables made from it, in one DuckDB connection."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        source: LogSource,
        *,
        percent: Percent = no_progress,
    ) -> None:
        self._connection = connection
        self._source = source
        self._percent = percent
        self._numbers = count()

    @property
    def label(self) -> str:
        """Name of the first file; rows that come from no file have a name of their own."""
        return self._source.label

    def log(self) -> Frame:
        """Return the log as its reader gives it."""
        return self._frame(self._connection.sql(self._source.sql))

    def rows_by_user(self) -> DuckDBUserRows:
        """Number the users and keep the user's number of every row; nothing is sorted."""
        columns = ["user_key", '"row"']
        if not self._source.has_only_records:  # otherwise no string has to be read
            columns.append("query IS NULL AS is_blank")
        log = self._connection.sql(self._source.sql)
        if not self._source.rescans_cheaply:
            columns += [f'"{name}"' for name in ("user", "opt_in") if name in log.columns]
        log = log.project(", ".join(columns))
        rows = self._numbered(log) or self._numbered(log.order('"row"'))
        if rows is None:
            raise BrokenInvariantError("sorted rows have increasing numbers")
        users = self.copy([rows.users()])
        return DuckDBUserRows(rows=rows, users=users, fetch=self.fetch, copy=self.copy)

    def _numbered(self, log: duckdb.DuckDBPyRelation) -> NumberedRows | None:
        """Return the rows by user; None if they are not in the order of their numbers."""
        [(directory,)] = self._connection.execute(
            "SELECT current_setting('temp_directory')"
        ).fetchall()
        rows = NumberedRows(Path(directory) if directory else None)
        with self._watched():
            for batch in batches_of(log):
                if not rows.add(batch):
                    return None
        return rows

    def with_user_id(self, frame: Frame) -> Frame:
        """Add ``user_id``, 62 bits of the MD5 of ``user``."""
        native = frame.to_native()
        return self._frame(native.project("*, (md5_number(user) >> 66)::BIGINT AS user_id"))

    def placed(self, users: Frame, order: Sequence[str]) -> Frame:
        """Sort the users into a table, which keeps the order: the position is DuckDB's row id."""
        # A window function that numbers them takes four times as long.
        kept = [duckdb.ColumnExpression(name) for name in users.columns if name not in order]
        name = self._new_name()
        with self._watched():
            users.to_native().order(_names(order)).select(*kept).create(name)
        return self._frame(self._connection.table(name).project("*, rowid AS position"))

    def materialise(self, frame: Frame) -> Frame:
        """Compute ``frame`` into a table of its own, which may spill to disk."""
        if frame.to_native().type == _TABLE:
            return frame
        name = self._new_name()
        with self._watched():
            frame.to_native().create(name)
        return self._frame(self._connection.table(name))

    def keep(self, frame: Frame) -> Frame:
        """Compute ``frame`` now: a table of DuckDB is filled when it is made."""
        return self.materialise(frame)

    def coded(self, rows: Frame) -> tuple[Frame, Frame | None]:
        """Group rows by query and url as they are read: each text is kept once, not per row.

        The rows of one record cannot be spilled to disk one by one. If they are too many for the
        memory, the log is read again and the rows are kept with their texts.
        """
        name = self._new_name()
        try:
            return self._coded(rows, name)
        except TooMuchForMemoryError:
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")
            return self.keep(rows), None

    def _coded(self, rows: Frame, name: str) -> tuple[Frame, Frame]:
        """Return the rows with codes, and the table ``name`` with the names of the codes."""
        place = '((position::BIGINT << 31 | "row") << 1 | rank - 1)::BIGINT'  # both below 2^31
        records = rows.to_native().filter("query IS NOT NULL")
        with self._watched():
            records.aggregate(f"query, url, list({place}) AS places").create(name)
        names = self._connection.table(name)
        coded = names.project("rowid::INTEGER AS code, unnest(places) AS place").project(
            '(place >> 32)::INTEGER AS position, (place >> 1 & 2147483647)::INTEGER AS "row", '
            "code, (place & 1) + 1 AS rank"
        )
        kept = self.materialise(self._frame(coded))
        with self._watched():
            self._connection.execute(f"ALTER TABLE {name} DROP COLUMN places")
        return kept, self._frame(self._connection.table(name).project("rowid::INTEGER AS code, *"))

    def free(self, frame: Frame) -> None:
        """Drop the table of ``frame``."""
        self._connection.execute(f'DROP TABLE "{frame.to_native().alias}"')

    def narrowed(self, kept: Frame, needed: nw.Expr) -> Frame:
        """Copy the needed rows: DuckDB does not free deleted ones."""
        rows = self.materialise(kept.filter(needed))
        self.free(kept)
        return rows

    def upload(self, columns: Mapping[str, Sequence[str] | Sequence[int]]) -> Frame:
        """Copy a small table into the database."""
        return self.copy([pa.table(dict(columns))])

    def copy(self, pieces: Iterable[pa.Table]) -> Frame:
        """Copy rows, at least one piece, into a table of their own, which may spill to disk."""
        name, into = self._new_name(), "CREATE TABLE {} AS"
        for piece in pieces:
            self._connection.register("uploaded", piece)
            with self._watched():
                self._connection.execute(f"{into.format(name)} FROM uploaded")
            self._connection.unregister("uploaded")
            into = "INSERT INTO {}"
        return self._frame(self._connection.table(name))

    def fetch(self, frame: Frame) -> pa.Table:
        """Run ``frame`` and return its rows."""
        with self._watched():
            return frame.to_native().to_arrow_table()

    @staticmethod
    def _frame(relation: duckdb.DuckDBPyRelation) -> Frame:
        return nw.from_native(relation)

    def _new_name(self) -> str:
        return f"table_{next(self._numbers)}"

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Report progress while a query runs, and turn its failure into one sentence."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(done,), daemon=True)
        if self._percent is not no_progress:
            watcher.start()
        try:
            with interruptible():
                yield
        except duckdb.Error as error:
            # DuckDB quotes the invalid line, so its message must not be shown.
            raise explain_failure(error, self._source) or _engine_failure(error) from None
        finally:
            done.set()
            if watcher.ident is not None:
                watcher.join()

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(0.1):
            self._percent(self._connection.query_progress())


def _names(columns: Sequence[str]) -> str:
    """Return fixed column names as SQL."""
    return ", ".join(f'"{name}"' for name in columns)


def _engine_failure(error: duckdb.Error) -> BlenderError:
    """Return the kind of an engine's error without its message, which may quote data."""
    text = str(error).lower()
    if "no space left" in text or "max_temp_directory_size" in text:
        return BlenderError(DISK_IS_FULL)
    if isinstance(error, duckdb.OutOfMemoryException):
        return TooMuchForMemoryError(
            "the memory limit is too small for this log; raise it with --memory-limit "
            "(in Python: Workspace(memory_limit=…))"
        )
    return BlenderError(f"the database engine failed ({type(error).__name__})")
