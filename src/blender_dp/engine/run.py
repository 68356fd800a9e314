"""Run of BLENDER on a log: from files to the blended result, both groups simulated."""

import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from blender_dp.core.blender import (
    PRESETS,
    BlenderResult,
    Progress,
    blender,
    no_progress,
    require_known_preset,
    require_relay_preset,
)
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated, certify_plan
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.choice import EngineChoice, EngineName, choose_engine
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, LogSource, StandIns, open_log
from blender_dp.engine.duckdb.tables import (
    DuckDBTables,
    Percent,
    connect,
    default_memory_limit,
)
from blender_dp.engine.population.table_population import open_population
from blender_dp.engine.released_tables import query_table, record_table
from blender_dp.engine.spark.session import SparkSettings
from blender_dp.engine.tables import Tables

READING = "read the log and sample"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Files of a log, and how to read them."""

    paths: Sequence[str | Path]
    format: LogFormat = LogFormat.AUTO
    columns: LogColumns = field(default_factory=LogColumns)

    @classmethod
    def of(cls, log: "str | Path | Sequence[str | Path] | Log") -> "Log":
        """Accept one path, several paths, or a description."""
        if isinstance(log, Log):
            return log
        return cls(paths=[log] if isinstance(log, str | Path) else log)

    @contextmanager
    def opened(self, workspace: Workspace) -> Iterator[tuple[DuckDBTables, LogSource]]:
        """Open the log in a new DuckDB, which is closed and removed afterwards."""
        with tempfile.TemporaryDirectory(
            prefix="blender-dp-", dir=workspace.spill_directory
        ) as spill:
            connection = connect(Path(spill), workspace.memory_limit)
            stand_ins = StandIns(Path(spill))
            try:
                source = open_log(
                    connection,
                    self.paths,
                    format=self.format,
                    columns=self.columns,
                    stand_ins=stand_ins,
                )
                tables = DuckDBTables(
                    connection,
                    source,
                    percent=workspace.percent,
                    memory_limit=workspace.memory_limit,
                )
                yield tables, source
            finally:
                connection.close()
                stand_ins.close()

    @contextmanager
    def counted(self, workspace: Workspace) -> Iterator["CountedLog"]:
        """Open the log in the engine that the workspace names, or in the one that suits the log."""
        choice = choose_engine(workspace.engine, self.paths, master=workspace.master)
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
            opened = opened_on_spark(self.paths, self.format, self.columns, settings)
            with opened as (spark_tables, log):
                names = tuple(file.name.name for file in log.files) or (log.label,)
                yield CountedLog(tables=spark_tables, format=log.format, files=names, choice=choice)
            return
        with self.opened(workspace) as (tables, source):
            names = tuple(path.name for path in source.files)
            yield CountedLog(
                tables=tables,
                format=source.format,
                files=names,
                choice=choice,
                found=source.found,
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedLog:
    """A log in some engine."""

    tables: Tables
    format: LogFormat
    files: tuple[str, ...]
    choice: EngineChoice
    found: Mapping[str, str] = field(default_factory=dict)
    """Columns by their purpose, if they are spelled as nobody asked."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunResult:
    """The blended result of a log, with its parameters, engine and times."""

    blender: BlenderResult
    certificate: ListCertificate
    """What everybody spent on it."""
    seed: int | None
    opt_in: float | None
    relay: RelayRules
    known_records: int
    """Number of records that were public before."""
    format: LogFormat
    files: tuple[str, ...]
    engine: EngineChoice
    seconds: dict[str, float]
    memory_limit: int
    peak_memory: int
    """The largest resident size of this process so far, in bytes."""

    @property
    def private(self) -> bool:
        """Whether the noise is secret; False if a seed was used."""
        return self.blender.private

    @property
    def records(self) -> pa.Table:
        """One row per cell, most probable first; ⋆ rows have null names; ``cell`` marks them."""
        return record_table(self.blender)

    @property
    def queries(self) -> pa.Table:
        """One row per query, most probable first."""
        return query_table(self.blender)


class StepClock:
    """Clock that records the time of each step and reports its name."""

    def __init__(self, progress: Progress, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._progress, self._now = progress, now
        self._step: str | None = None
        self._began = now()

    def __call__(self, step: str) -> None:
        """Record the end of the last step and the beginning of ``step``."""
        self.stop()
        self._step = step
        self._progress(step)

    def stop(self) -> None:
        """Record the end of the last step."""
        now = self._now()
        if self._step is not None:
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._began
        self._step, self._began = None, now


def run(  # noqa: PLR0913 - the public call
    log: str | Path | Sequence[str | Path] | Log,
    parameters: Parameters,
    *,
    opt_in: float | None = None,
    relay: RelayRules | float = 0.0,
    known: KnownList = NOTHING_KNOWN,
    seed: int | None = None,
    workspace: Workspace | None = None,
    engine: EngineName | None = None,
) -> RunResult:
    """Find the popular records of a log; both groups are simulated from its raw records.

    Args:
        log: Files, folders or patterns, or a :class:`Log` that also says how to read them.
        parameters: The promise and the tuning parameters.
        opt_in: The share of users who opted in; leave it out if a group column names them.
        relay: The share of the clients who use the relay, or :class:`RelayRules`.
        known: Records that are public already, such as those of an earlier release
            (:func:`~blender_dp.wire.published.known_list.read_known`).
        seed: For experiments that must be repeatable. A result with a seed is not private.
        workspace: Memory, disk and progress.
        engine: Engine that counts: duckdb, spark or auto; the workspace's if left out.
    """
    log, workspace = Log.of(log), workspace or Workspace()
    if engine is not None:
        workspace = replace(workspace, engine=engine)
    if (opt_in is None) == (log.columns.group is None):
        raise ParameterError(
            "opt_in",
            "given, unless a group column names the opt-in users (exactly one of the two)",
            opt_in,
        )
    relay = relay if isinstance(relay, RelayRules) else RelayRules(share=relay)
    steps = PRESETS[parameters.preset]
    steps.require_provable(parameters)
    require_relay_preset(parameters, relay.share)
    require_known_preset(parameters, known)
    require_kept(certify_plan(parameters))
    randomness = Randomness.secure() if seed is None else Randomness.seeded(seed)
    clock = StepClock(workspace.progress)
    clock(READING)
    with log.counted(workspace) as counted:
        population = open_population(
            counted.tables,
            randomness,
            opt_in=opt_in,
            relay=relay.share,
            records_per_user=max(parameters.records_per_optin_user, parameters.records_per_client),
            all_rows=steps.asks_all_rows,
        )
        result = blender(
            population, parameters, randomness, relay=relay, known=known, progress=clock
        )
    certificate = require_kept(certify_curated(result.curated))
    clock.stop()
    return RunResult(
        blender=result,
        certificate=certificate,
        seed=seed,
        opt_in=opt_in,
        relay=relay,
        known_records=len(known),
        format=counted.format,
        files=counted.files,
        engine=counted.choice,
        seconds=clock.seconds,
        memory_limit=workspace.memory_limit,
        peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )
