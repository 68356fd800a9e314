"""Arguments and results of the readers: formats, columns, and a log that can be scanned."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from blender_dp.engine.duckdb.readers.files import Compression, compression_of


class LogFormat(StrEnum):
    """The formats a search log may come in."""

    AUTO = "auto"
    AOL = "aol"
    YANDEX = "yandex"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogColumns:
    """Names of the columns of user, query, URL and group in a CSV, TSV or Parquet log."""

    user: str = "user"
    query: str = "query"
    url: str = "url"
    group: str | None = None
    """The column with ``opt-in`` or ``client`` in every row, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource:
    """A log that DuckDB can scan, any number of times, with the same rows each time."""

    sql: str
    """A SELECT of row, user, user_key, query, url and, with a group column, opt_in.

    ``row`` is unique over all files and grows in file order. ``user`` is NULL where the log has
    none; ``query`` and ``url`` are both NULL where the row is not a record.
    """
    has_only_records: bool
    """Whether the files show, without a scan, that every row is a record."""
    rescans_cheaply: bool
    """Whether scanning twice is cheaper than keeping the rows of the first scan."""
    format: LogFormat
    files: tuple[Path, ...]
    bytes: int
    """The size of the files as they are stored, compressed or not."""

    @property
    def text_bytes(self) -> int:
        """The size of the text, estimated at ten times that of packed files."""
        is_packed = any(compression_of(path) is not Compression.NONE for path in self.files)
        return 10 * self.bytes if is_packed else self.bytes
