"""Arguments and results of the readers: formats, columns, and a log that can be scanned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from blender_dp.core.errors import ParameterError
from blender_dp.engine.duckdb.readers.files import STANDARD_INPUT
from blender_dp.engine.duckdb.readers.unpacking.addresses import shown_address
from blender_dp.engine.duckdb.readers.unpacking.stand_ins import StandIns


class LogFormat(StrEnum):
    """The formats a search log may come in."""

    AUTO = "auto"
    AOL = "aol"
    YANDEX = "yandex"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    JSON = "json"
    ARROW = "arrow"
    ORC = "orc"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogColumns:
    """Names of the columns of user, query, URL and group in a log that names its columns.

    Case, blanks, ``_`` and ``-`` do not matter where no column has exactly the name.
    """

    user: str = "user"
    query: str = "query"
    url: str | None = "url"
    """None if records have one level, such as words: there is no second column then."""
    group: str | None = None
    """The column with ``opt-in`` or ``client`` in every row, if there is one."""
    delimiter: str | None = None
    """The character between the values of CSV; None finds it in the first line."""

    def __post_init__(self) -> None:
        for name in ("user", "query", "url", "group"):
            column, may_lack = getattr(self, name), name in ("url", "group")
            if not isinstance(column, str) and not (may_lack and column is None):
                rule = "the name of a column" + (", or None" if may_lack else "")
                raise ParameterError(name, rule, column)

    @property
    def has_url(self) -> bool:
        """Whether records have a second level."""
        return self.url is not None


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
    """Whether a scan of some columns costs much less than a scan of all."""
    format: LogFormat
    files: tuple[Path, ...]
    """The files as they were given or found."""
    bytes: int
    """The size of the files as they are stored, compressed or not."""
    parts: tuple[Path, ...] = ()
    """What is read in place of the files."""
    stand_ins: StandIns = field(default_factory=StandIns)
    columns: LogColumns = field(default_factory=LogColumns)
    found: Mapping[str, str] = field(default_factory=dict)
    """The columns of the first file by their purpose, if they are spelled as nobody asked."""
    name: str | None = None
    """Name for messages of rows that come from no file."""

    @property
    def label(self) -> str:
        """Name of the log for messages: that of the first file, or its own."""
        if self.name is not None:
            return self.name
        first = (
            "standard input" if self.files[0] == STANDARD_INPUT else shown_address(self.files[0])
        )
        return (
            first if len(self.files) == 1 else f"{first} or one of the {len(self.files) - 1} others"
        )
