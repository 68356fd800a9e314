"""Interface of a database engine: the operations beyond narwhals expressions."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import narwhals as nw
import pyarrow as pa

Frame = nw.LazyFrame[Any]


class UserRows(Protocol):
    """Rows of a log by user; each user's records are numbered from 0 in the order of the rows."""

    @property
    def last_row(self) -> int | None:
        """The largest row, None for a log without rows."""
        ...

    @property
    def users(self) -> Frame:
        """Every user once, until the table is freed.

        Columns: user_key, row (one of the user's), records (how many rows of the user are records),
        and the engine's own. Perhaps user and opt_in, if reading them again would cost more.
        """
        ...

    def drawn(self, users: Frame, *, all_before: int) -> Frame:
        """Return position, row and rank: 1 of the record that is drawn of each of these users.

        Args:
            users: The columns of :attr:`users`, position, and number: which record is drawn.
            all_before: Of users at positions before this, all other records follow with rank 2.
        """
        ...

    def all_of(self, users: Frame) -> Frame:
        """Return every record of these users: the users' columns, with row and number."""
        ...


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

    def rows_by_user(self) -> UserRows:
        """Read the log once and return its rows by user."""
        ...

    def with_user_id(self, frame: Frame) -> Frame:
        """Add ``user_id``: 62 bits of the MD5 of ``user``, the same on every engine.

        Also add ``user``, if the engine uses it as the key.
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

    def keep(self, frame: Frame) -> Frame:
        """Keep ``frame`` and return it; the next query reads all of it and may compute it."""
        ...

    def coded(self, rows: Frame) -> tuple[Frame, Frame | None]:
        """Keep rows with a ``code`` in place of query and url; also return every code's names.

        None in place of the names, if the engine keeps query and url instead. Rows without a query
        may be left out.

        Args:
            rows: Position, row, query, url and rank, which is 1 or 2.
        """
        ...

    def free(self, frame: Frame) -> None:
        """Free what :meth:`materialise` or :meth:`keep` returned; nothing reads it any more."""
        ...

    def narrowed(self, kept: Frame, needed: nw.Expr) -> Frame:
        """Return the needed rows of a kept frame; the others may be freed."""
        ...

    def upload(self, columns: Mapping[str, Sequence[str] | Sequence[int]]) -> Frame:
        """Put a small table next to the log."""
        ...

    def fetch(self, frame: Frame) -> pa.Table:
        """Return a small result as an Arrow table."""
        ...
