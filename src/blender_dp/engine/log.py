"""Log of a run: files or a table, how to read them, and the engine that counts them."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from duckdb import DuckDBPyConnection

from blender_dp.core.blender import Progress, no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.engine.choice import (
    EngineChoice,
    EngineName,
    choose_engine,
    choose_engine_for_table,
    require_engine,
)
from blender_dp.engine.duckdb.readers import (
    LogColumns,
    LogFormat,
    LogSource,
    StandIns,
    open_log,
    open_table,
)
from blender_dp.engine.duckdb.readers.tables.frames import Frame, frame_of
from blender_dp.engine.duckdb.readers.unpacking.addresses import shown_address
from blender_dp.engine.duckdb.tables import (
    DuckDBTables,
    Percent,
    connect,
    default_memory_limit,
)
from blender_dp.engine.spark.session import SparkSettings
from blender_dp.engine.tables import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Resources of this machine that a run may use, and its callbacks for progress."""

    memory_limit: int = field(default_factory=default_memory_limit)
    """Bytes that the engine may keep in memory; data beyond them goes to disk."""
    spill_directory: Path | None = None
    """Directory for data beyond the memory limit; a temporary one if None."""
    engine: EngineName = "auto"
    """Engine that counts."""
    master: str | None = None
    """The Spark master, such as ``spark://host:7077``; this machine if None."""
    progress: Progress = no_progress
    percent: Percent = no_progress
    explain: Callable[[EngineChoice], None] = no_progress
    """Called with the engine that was chosen, and why."""
    tell_columns: Callable[[Mapping[str, str]], None] = no_progress
    """Called with the columns by their purpose, if they are spelled as nobody asked."""

    def __post_init__(self) -> None:
        require_engine(self.engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Files or a table of a log, and how to read them."""

    paths: Sequence[str | Path] = ()
    """Files, folders, patterns or addresses; a single one may be given as it is."""
    format: LogFormat = LogFormat.AUTO
    columns: LogColumns = field(default_factory=LogColumns)
    frame: Frame | None = None
    """A table of another library in place of files."""

    def __post_init__(self) -> None:
        if isinstance(self.paths, str | Path):
            object.__setattr__(self, "paths", [self.paths])

    @classmethod
    def of(cls, log: object, columns: LogColumns | None = None) -> "Log":
        """Accept one path, several paths, a table of another library, or a description.

        Args:
            log: Where the rows are.
            columns: The columns to read; left out if a description names them.
        """
        if isinstance(log, Log):
            if columns not in (None, LogColumns()):
                rule = "left out if a Log describes the columns"
                raise ParameterError("user, query, url and group", rule, "some of them")
            return log
        columns = columns or LogColumns()
        if isinstance(log, str | Path):
            return cls(paths=[log], columns=columns)
        if (frame := frame_of(log)) is not None:
            return cls(columns=columns, frame=frame)
        if isinstance(log, Sequence) and log and all(isinstance(p, str | Path) for p in log):
            return cls(paths=list(log), columns=columns)
        rule = "paths, or a table of pandas, polars, Arrow, DuckDB or Spark"
        raise ParameterError("log", rule, type(log).__name__)

    @contextmanager
    def opened(self, workspace: Workspace) -> Iterator[tuple[DuckDBTables, LogSource]]:
        """Open the log in a new DuckDB, which is closed and removed afterwards."""
        with tempfile.TemporaryDirectory(
            prefix="blender-dp-", dir=workspace.spill_directory
        ) as spill:
            connection = connect(Path(spill), workspace.memory_limit)
            stand_ins = StandIns(Path(spill))
            try:
                source = self._source(connection, stand_ins)
                yield DuckDBTables(connection, source, percent=workspace.percent), source
            finally:
                connection.close()
                stand_ins.close()

    def _source(self, connection: DuckDBPyConnection, stand_ins: StandIns) -> LogSource:
        if self.frame is not None:
            return open_table(connection, self.frame, self.columns)
        return open_log(
            connection, self.paths, format=self.format, columns=self.columns, stand_ins=stand_ins
        )

    @contextmanager
    def counted(self, workspace: Workspace) -> Iterator["CountedLog"]:
        """Open the log in the engine that the workspace names, or in the one that suits the log."""
        choice = (
            choose_engine(workspace.engine, self.paths, master=workspace.master)
            if self.frame is None
            else choose_engine_for_table(workspace.engine, on_spark=self.frame.is_on_spark)
        )
        with self._on(choice, workspace) as counted:
            yield counted
        workspace.explain(choice)  # last: an error is reported as one sentence
        if counted.found:
            workspace.tell_columns(counted.found)

    @contextmanager
    def _on(self, choice: EngineChoice, workspace: Workspace) -> Iterator["CountedLog"]:
        if choice.name == "spark":
            # Imported here: Spark is optional and loads slowly.
            from blender_dp.engine.spark.tables import opened_on_spark  # noqa: PLC0415

            settings = SparkSettings(
                master=workspace.master,
                memory_limit=workspace.memory_limit,
                spill_directory=workspace.spill_directory,
            )
            frame = None if self.frame is None else self.frame.native
            opened = opened_on_spark(self.paths, self.format, self.columns, settings, frame)
            with opened as (spark_tables, log):
                names = tuple(file.name.name for file in log.files)
                yield CountedLog(
                    tables=spark_tables,
                    format=log.format if self.frame is None else self.frame.library,
                    files=names if names or self.frame is not None else (log.label,),
                    choice=choice,
                )
            return
        with self.opened(workspace) as (tables, source):
            names = tuple(Path(shown_address(path)).name for path in source.files)
            yield CountedLog(
                tables=tables,
                format=source.format if self.frame is None else self.frame.library,
                files=names,
                choice=choice,
                found=source.found,
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedLog:
    """A log in some engine."""

    tables: Tables
    format: str
    """A :class:`LogFormat`, or the library of a table."""
    files: tuple[str, ...]
    choice: EngineChoice
    found: Mapping[str, str] = field(default_factory=dict)
    """Columns by their purpose, if they are spelled as nobody asked."""
