"""Choice of the engine: the requested one, or the one that suits the log and is installed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from blender_dp.core.errors import BlenderError, InputError, ParameterError, is_installed
from blender_dp.engine.duckdb.readers import find_log_files
from blender_dp.engine.duckdb.readers.files import stored_size
from blender_dp.engine.duckdb.readers.unpacking.addresses import (
    has_httpfs,
    is_address,
    is_web,
    shown_address,
)
from blender_dp.engine.spark.session import is_running, require_spark

EngineName = Literal["auto", "duckdb", "spark"]

ONE_MACHINE_BYTES = 50 * 10**9
"""Smallest log for which Spark is started; Spark takes about six times the CPU time of DuckDB."""


TABLE = "table:"
"""Prefix that marks a path as the name of a table in Spark's catalogue."""
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://?[^/]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """The engine of a run, and why."""

    name: Literal["duckdb", "spark"]
    reason: str


def require_engine(asked: object) -> None:
    """Refuse the name of an engine that there is not.

    Raises:
        ParameterError: With the names.
    """
    if asked not in get_args(EngineName):
        raise ParameterError("engine", f"one of {', '.join(get_args(EngineName))}", asked)


def choose_engine(
    asked: EngineName, paths: Sequence[str | Path], *, master: str | None
) -> EngineChoice:
    """Return the engine for a log.

    Spark on one machine is slower than DuckDB. It is chosen for logs that only Spark can read, and
    for large logs if there is a cluster. Addresses are fetched for DuckDB, unless a cluster can
    read them and DuckDB has no extension for them.

    Raises:
        BlenderError: Spark is needed and cannot run; the message says what to install.
    """
    if asked == "duckdb":
        return _duckdb(paths, "it was asked for")
    if asked == "spark":
        _refuse_web(paths)
        require_spark()
        return EngineChoice(name="spark", reason="it was asked for")
    if any(_is_only_for_spark(path) for path in paths):
        _refuse_web(paths)
        require_spark()
        return EngineChoice(name="spark", reason="only Spark reads such a path")
    if any(is_address(path) for path in paths):
        return _for_addresses(paths, master)
    return _by_size(paths, master)


def choose_engine_for_table(asked: EngineName, *, on_spark: bool) -> EngineChoice:
    """Return the engine for a table of another library: where its rows are, unless asked.

    Args:
        asked: The engine that was asked for.
        on_spark: Whether it is a frame of Spark.
    """
    if asked == "spark" and not on_spark:
        raise ParameterError("engine", "duckdb or auto for a table that is not on Spark", asked)
    if asked == "duckdb" or not on_spark:
        reason = "the table is in this process" if asked == "auto" else "it was asked for"
        return EngineChoice(name="duckdb", reason=reason)
    return EngineChoice(name="spark", reason="the table is a frame of Spark")


def _by_size(paths: Sequence[str | Path], master: str | None) -> EngineChoice:
    size = _bytes_of(paths)
    log_has, limit = f"the log has {_in_words(size)}", _in_words(ONE_MACHINE_BYTES)
    if size < ONE_MACHINE_BYTES:
        return _duckdb(paths, f"{log_has}, and up to {limit} it is faster")
    if not is_installed("pyspark"):
        return _duckdb(paths, f"{log_has}, but Spark is not installed")
    if master is None and not is_running():
        return _duckdb(paths, f"{log_has}, but no --master names a cluster")
    require_spark()
    reason = f"{log_has}, more than {limit}, and there is a cluster"
    return EngineChoice(name="spark", reason=reason)


def _for_addresses(paths: Sequence[str | Path], master: str | None) -> EngineChoice:
    has_cluster = master is not None or is_running()
    if has_cluster and not any(is_web(path) for path in paths) and not has_httpfs():
        require_spark()
        reason = "there is a cluster, and DuckDB has no extension for such an address"
        return EngineChoice(name="spark", reason=reason)
    return EngineChoice(name="duckdb", reason="its extension httpfs fetches such an address")


def _in_words(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.2f} MB"


def _duckdb(paths: Sequence[str | Path], reason: str) -> EngineChoice:
    if any(_is_only_for_spark(path) for path in paths):
        raise BlenderError(
            "--engine duckdb reads files of this machine, https://, s3:// and gs:// only; use "
            "--engine spark, or pipe the log into blender-dp and give - in its place"
        )
    return EngineChoice(name="duckdb", reason=reason)


def _bytes_of(paths: Sequence[str | Path]) -> int:
    return sum(stored_size(path) for path in find_log_files(list(paths)))


def _refuse_web(paths: Sequence[str | Path]) -> None:
    """Refuse addresses of the web, which Spark does not read.

    Raises:
        InputError: With the way to read one.
    """
    for path in paths:
        if is_web(path):
            rule = "Spark does not read addresses of the web; leave --engine out"
            raise InputError(shown_address(path), rule)


def _is_only_for_spark(path: str | Path) -> bool:
    return is_remote(path) and not is_address(path)


def is_remote(path: str | Path) -> bool:
    """Tell whether a path has a scheme, such as hdfs:// or s3a://, or names a table of Spark."""
    text = str(path)
    return text.startswith(TABLE) or _SCHEME.match(text) is not None
