"""Location of a log: files on this machine, paths that only Spark reads, or a table."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.engine.choice import TABLE, is_remote
from blender_dp.engine.duckdb.readers import find_log_files
from blender_dp.engine.duckdb.readers.files import (
    STANDARD_INPUT,
    TEXT_SUFFIXES,
    Compression,
    compression_of,
    log_suffix,
    table_of,
)
from blender_dp.engine.duckdb.readers.unpacking.addresses import shown_address

NOT_ON_SPARK = (
    "Spark reads CSV with commas, TSV, AOL and Yandex, in UTF-8, plain or with gzip or zstd, and "
    "Parquet; use --engine duckdb"
)
_HADOOP_PATTERN = re.compile(r"([\\*?\[\]{}])")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One file of a log."""

    path: str
    """Path as it is passed to Spark."""
    key: str
    """Name of the file in Spark's metadata, as :func:`key_of` writes it."""
    local: Path | None
    """Path on this machine; None if it is elsewhere."""

    @property
    def label(self) -> Path | str:
        """Name of the file for messages."""
        return shown_address(self.path) if self.local is None else self.local

    @property
    def name(self) -> Path:
        """Last part of the path, from which the format is detected."""
        return Path(self.key.rsplit("/", 1)[-1])


def key_of(uri: str) -> str:
    """Return a file's address in one spelling: Spark uses two, with different escapes."""
    parts = urlsplit(uri)
    host = parts.netloc and f"//{parts.netloc}"
    return unquote(f"{parts.scheme}:{host}{parts.path}")


def table_name(paths: Sequence[str | Path]) -> str | None:
    """Return the table's name of a log that is a table; None for files."""
    tables = [str(path) for path in paths if str(path).startswith(TABLE)]
    if not tables:
        return None
    if len(paths) > 1:
        raise ParameterError("log", "a single table, or files", f"{len(paths)} of them")
    return tables[0].removeprefix(TABLE)


def find_files(spark: SparkSession, paths: Sequence[str | Path]) -> tuple[LogFile, ...]:
    """Return the files that paths name, in the order in which rows are numbered.

    Those on this machine are found as the embedded engine finds them. Spark finds those of a path
    with a scheme; they are sorted by their addresses.

    Raises:
        InputError: A path names no file.
        ParameterError: There are no paths.
    """
    if not paths:
        raise ParameterError("paths", "at least one file or folder", list(paths))
    found: dict[str, LogFile] = {}
    for path in paths:
        files = _remote_files(spark, str(path)) if is_remote(path) else _local_files(path)
        for file in files:
            found.setdefault(file.key, file)
    return tuple(found.values())


def size_of(spark: SparkSession, files: Sequence[LogFile]) -> int:
    """Return the bytes of all files as they are stored."""
    local = sum(file.local.stat().st_size for file in files if file.local is not None)
    remote = [file.path for file in files if file.local is None]
    if not remote:
        return local
    plan: Any = spark.read.text(remote)._jdf.queryExecution().optimizedPlan()
    return local + int(str(plan.stats().sizeInBytes()))


def _local_files(path: str | Path) -> list[LogFile]:
    return [_local_file(file) for file in find_log_files(path)]


def _local_file(path: Path) -> LogFile:
    if path == STANDARD_INPUT or table_of(path) is not None:
        raise InputError(path, NOT_ON_SPARK)
    absolute = str(path.resolve())
    if log_suffix(path) in TEXT_SUFFIXES:
        packing = compression_of(path)
        if packing in (Compression.XZ, Compression.ZIP, Compression.BZIP2):
            raise InputError(path, NOT_ON_SPARK)
        if not path.suffix.lower().endswith(packing.suffix):
            rule = f"the content is {packing.sql_name}, and Spark sees that only by a name that"
            raise InputError(path, f"{rule} ends in {packing.suffix}")
    return LogFile(
        path=_HADOOP_PATTERN.sub(r"\\\1", f"file://{absolute}"), key=f"file:{absolute}", local=path
    )


def _remote_files(spark: SparkSession, path: str) -> list[LogFile]:
    try:
        names = spark.read.option("recursiveFileLookup", "true").text(path).inputFiles()
    except (PySparkException, Py4JError):
        rule = "Spark finds no file there, or may not read it"
        raise InputError(shown_address(path), rule) from None
    if not names:
        raise InputError(shown_address(path), "there is no file in it")
    keys = sorted(key_of(name) for name in names)
    # Spark returns addresses escaped but expects them unescaped.
    return [LogFile(path=_HADOOP_PATTERN.sub(r"\\\1", key), key=key, local=None) for key in keys]
