"""Tables of other libraries as logs: data frames, Arrow tables and datasets, DuckDB relations.

Whatever narwhals reads is taken, and whatever streams Arrow. Only the wanted columns are read. A
stream, which can be read once, is copied into this database, which spills beyond its limit.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, TypeGuard

import duckdb
import narwhals as nw
import pyarrow as pa

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.interruption import interruptible
from blender_dp.engine.duckdb.readers.columns import (
    find_columns,
    find_spellings,
    wanted_columns,
)
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat, LogSource
from blender_dp.engine.duckdb.readers.sql import identifier, log_rows, text_of
from blender_dp.engine.duckdb.readers.tables.frame_types import is_readable, type_names, type_rule

_TOO_LARGE_TO_HOLD = 1 << 60
"""Size of a table whose size is not known: it is not kept in memory."""
_NOT_CONVERTED = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What libraries raise for values that Arrow has no type for."""
_numbers = count()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """A table of another library."""

    library: str
    """Name of the library, such as pandas."""
    names: tuple[str, ...]
    """Names of its columns."""
    types: tuple[str, ...]
    """Type of each column, as its library names it."""
    index: tuple[str, ...] = ()
    """Names of the index, which is not read; only pandas has one."""
    read: Callable[[Sequence[int]], Any] = field(repr=False)  # a log line must show no row
    """Returns the columns at these places, as an Arrow table, stream or dataset."""
    native: Any = field(repr=False)
    """The table itself."""

    @property
    def label(self) -> str:
        """Name of the log for messages."""
        return f"the {self.library} table"

    @property
    def is_on_spark(self) -> bool:
        """Whether it is a frame of Spark, whose rows may be on other machines."""
        return self.library == "pyspark"


def frame_of(table: object) -> Frame | None:
    """Describe a table of another library; None if it is no table.

    Raises:
        InputError: Two of its columns have the same name, its connection is closed, or a lazy
            table cannot be computed.
    """
    try:
        return _described(table)
    except duckdb.ConnectionException:
        rule = "its connection is closed; keep it open until the run is done"
        raise InputError("the duckdb table", rule) from None
    except nw.exceptions.DuplicateError:
        rule = "has two columns of the same name; rename one"
        raise InputError("the table", rule) from None
    except nw.exceptions.NarwhalsError as error:
        rule = f"its query fails ({type(error).__name__}); see what .collect() says"
        raise InputError("the lazy table", rule) from None


def _described(table: object) -> Frame | None:
    index: Sequence[object] = ()
    if _is_dataset(table):
        library, names, types = "pyarrow", table.schema.names, table.schema.types
        read = partial(_part_of_dataset, table)
    elif isinstance(table, duckdb.DuckDBPyRelation):
        library, names, types = "duckdb", table.columns, [kind.id for kind in table.types]
        read = partial(_relation_stream, table)
    elif isinstance(known := _known(table), nw.DataFrame | nw.LazyFrame):
        library, names = known.implementation.value, known.collect_schema().names()
        types, read = type_names(known), partial(_arrow_of, known)
        index = known.to_native().index.names if known.implementation.is_pandas_like() else ()
    elif (stream := _stream_of(table)) is not None:
        library, names, types = "Arrow", stream.schema.names, stream.schema.types
        read = partial(_part_of_stream, stream)
    else:
        return None
    return Frame(
        library=library,
        names=tuple(map(str, names)),
        types=tuple(map(str, types)),
        index=tuple(str(name) for name in index if name is not None),
        read=read,
        native=table,
    )


def open_frame(
    connection: duckdb.DuckDBPyConnection, frame: Frame, columns: LogColumns
) -> LogSource:
    """Return a frame as a source to scan.

    Raises:
        InputError: A column is missing, or its values have no text.
    """
    _require_columns(frame, columns)
    places = find_columns(frame.label, columns, frame.names, may_be_a_row=False, option="{}=")
    wanted = sorted(set(places.values()))
    content = _read(frame, wanted)
    table, described = _put(connection, content)
    kinds = dict(zip(wanted, described, strict=True))
    values = ", ".join(
        f"{text_of(*kinds[place])} AS {identifier(purpose)}" for purpose, place in places.items()
    )
    return LogSource(
        sql=log_rows(
            f"SELECT {values} FROM {table}",  # noqa: S608 - quoted by identifier
            row="row_number() OVER () - 1",
            has_group=columns.group is not None,
            has_url=columns.has_url,
        ),
        has_only_records=False,
        rescans_cheaply=True,
        format=LogFormat.ARROW,
        files=(),
        bytes=content.nbytes if isinstance(content, pa.Table) else _TOO_LARGE_TO_HOLD,
        columns=columns,
        found=find_spellings(columns, frame.names),
        name=frame.label,
    )


def _require_columns(frame: Frame, columns: LogColumns) -> None:
    """Refuse a table without columns, and one whose index has a wanted name."""
    if not frame.names:
        raise InputError(frame.label, "it has no columns")
    for name in wanted_columns(columns).values():
        if name in frame.index and name not in frame.names:
            rule = f"{name} is its index; make it a column with .reset_index()"
            raise InputError(frame.label, rule)


def _read(frame: Frame, places: Sequence[int]) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Read columns; name the one that cannot be read, if one cannot."""
    for place in places:
        if (frame.library, frame.types[place]) == ("polars", "Object"):
            raise _unreadable(frame, place)  # Arrow would have the addresses of its values
    try:
        content = frame.read(places)
    except _NOT_CONVERTED:
        for place in places:
            try:
                frame.read([place])
            except _NOT_CONVERTED:
                raise _unreadable(frame, place) from None
        raise
    for place, kind in zip(places, content.schema.types, strict=True):
        if not is_readable(kind):
            raise _unreadable(frame, place)
    return content


def _unreadable(frame: Frame, place: int) -> InputError:
    name, kind = frame.names[place], frame.types[place]
    rule = type_rule(frame.native, place, kind)
    how = ", as with .astype(str)" if hasattr(frame.native, "astype") else ""
    return InputError(frame.label, f"column {name} {rule}; make all of its values texts{how}")


def _put(
    connection: duckdb.DuckDBPyConnection,
    content: Any,  # noqa: ANN401 - pyarrow is untyped
) -> tuple[str, list[tuple[str, str]]]:
    """Show a table to the engine; return its name, and name and type of each of its columns."""
    table = f"frame_{next(_numbers)}"
    if isinstance(content, pa.RecordBatchReader):
        connection.register("stream", content)
        with interruptible():
            connection.execute(f"CREATE TABLE {table} AS FROM stream")
        connection.unregister("stream")
    else:
        connection.register(table, content)
    with interruptible():
        described = connection.execute(f"DESCRIBE {table}").fetchall()
    return table, [(str(name), str(kind)) for name, kind, *_ in described]


def _known(table: Any) -> Any:  # noqa: ANN401 - whatever a caller gave
    """Return a frame of narwhals; the table itself if narwhals does not know it."""
    whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    return nw.from_native(whole, pass_through=True)


def _stream_of(table: Any) -> Any:  # noqa: ANN401 - whatever a caller gave
    """Return the rows of an object that streams tables; None if it does not, as a series."""
    try:
        has_rows = hasattr(table, "__arrow_c_stream__")
        return pa.RecordBatchReader.from_stream(table) if has_rows else None
    except pa.ArrowException:
        return None


def _arrow_of(frame: Any, places: Sequence[int]) -> Any:  # noqa: ANN401 - any frame of narwhals
    chosen = frame.select(nw.nth(*places))
    table = (chosen.collect("pyarrow") if isinstance(chosen, nw.LazyFrame) else chosen).to_arrow()
    return table.select(range(len(places)))  # pandas adds its index behind them


def _relation_stream(relation: duckdb.DuckDBPyRelation, places: Sequence[int]) -> Any:  # noqa: ANN401 - pyarrow is untyped
    names = ", ".join(identifier(relation.columns[place]) for place in places)
    return relation.project(names).to_arrow_reader()


def _part_of_stream(stream: Any, places: Sequence[int]) -> Any:  # noqa: ANN401 - pyarrow is untyped
    schema = pa.schema([stream.schema.field(place) for place in places])
    return pa.RecordBatchReader.from_batches(schema, (b.select(list(places)) for b in stream))


def _is_dataset(table: object) -> TypeGuard[Any]:
    """Tell whether this is a dataset of Arrow, without importing them, which takes 0.1 s."""
    datasets = sys.modules.get("pyarrow.dataset")
    return datasets is not None and isinstance(table, datasets.Dataset)


def _part_of_dataset(dataset: Any, places: Sequence[int]) -> Any:  # noqa: ANN401 - pyarrow is untyped
    return dataset.replace_schema(pa.schema([dataset.schema.field(place) for place in places]))
