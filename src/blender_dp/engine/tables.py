"""Interface of a database engine: the operations beyond narwhals expressions."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import narwhals as nw
import pyarrow as pa

Frame = nw.LazyFrame[Any]


class Tables(Protocol):
    """A database that runs narwhals expressions: DuckDB or a Spark cluster."""

    def log(self) -> Frame:
        """Return the log, one row per line.

        Columns: row, user_key (which tells users apart), perhaps user, query, url, perhaps opt_in.
        """
        ...

    @property
    def label(self) -> str:
        """Name of the log for messages."""
        ...

    @property
    def has_only_records(self) -> bool:
        """Whether it is known without a scan that every row is a record."""
        ...

    @property
    def rescans_cheaply(self) -> bool:
        """Whether reading the log twice costs less than keeping every string."""
        ...

    @property
    def holds_log(self) -> bool:
        """Whether all rows, with their strings, certainly fit into memory."""
        ...

    def with_user_id(self, frame: Frame) -> Frame:
        """Add ``user_id``: 62 bits of the MD5 of ``user``, the same on every engine.

        Also add ``user``, if the engine uses it as the key.
        """
        ...

    def grouped_by_user(self, rows: Frame) -> Frame:
        """Sort rows by user_key, is_blank (if present) and row; keep them with ``place``.

        Places are unique, and those of one user's rows consecutive.
        """
        ...

    def counted_by_user(self, rows: Frame) -> Frame:
        """Return every user of the rows that :meth:`grouped_by_user` returned, once.

        Columns: user_key, row (one of the user's), first_place (the smallest of the user's places)
        and records (the number of the user's rows that are not blank).
        """
        ...

    def placed(self, users: Frame, order: Sequence[str]) -> Frame:
        """Add ``position``, from 0, in the order of these columns; keep the result.

        The columns themselves are dropped: nothing else needs them.
        """
        ...

    def materialise(self, frame: Frame) -> Frame:
        """Compute ``frame`` now, keep it, and return it."""
        ...

    def upload(self, columns: Mapping[str, Sequence[str] | Sequence[int]]) -> Frame:
        """Put a small table next to the log."""
        ...

    def fetch(self, frame: Frame) -> pa.Table:
        """Return a small result as an Arrow table."""
        ...
