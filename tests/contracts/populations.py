"""Every population there is, behind one constructor, for the contract suite."""

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.population import Population
from blender_dp.engine.duckdb.readers import LogColumns, open_log
from blender_dp.engine.duckdb.tables import DuckDBTables, connect
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation
from blender_dp.engine.population.table_population import open_population
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.readers import open_spark_log
from blender_dp.engine.spark.tables import SparkTables

MEMORY_LIMIT = 256 << 20


@contextmanager
def in_memory(
    rows: Sequence[LogRow],
    randomness: Randomness,
    directory: Path,  # noqa: ARG001 - the others need it
    *,
    opt_in: float | None,
    relay: float = 0.0,
    records_per_user: int = 1,  # noqa: ARG001 - the oracle keeps every row
    all_rows: bool = False,  # noqa: ARG001
) -> Iterator[Population]:
    """Open the oracle."""
    yield MemoryPopulation.of(rows, randomness, opt_in=opt_in, relay=relay)


@contextmanager
def _duckdb(
    path: Path,
    randomness: Randomness,
    *,
    opt_in: float | None,
    relay: float = 0.0,
    records_per_user: int = 1,
    all_rows: bool = False,
    rescans: bool,
) -> Iterator[Population]:
    columns = LogColumns(group="group" if opt_in is None else None)
    connection = connect(path.parent, MEMORY_LIMIT)
    source = replace(open_log(connection, [path], columns=columns), rescans_cheaply=rescans)
    try:
        yield open_population(
            DuckDBTables(connection, source),
            randomness,
            opt_in=opt_in,
            relay=relay,
            records_per_user=records_per_user,
            all_rows=all_rows,
        )
    finally:
        connection.close()


@contextmanager
def duckdb_csv(
    rows: Sequence[LogRow],
    randomness: Randomness,
    directory: Path,
    **how: Any,
) -> Iterator[Population]:
    """Open a CSV file in DuckDB, which is read twice."""
    path = write_csv(directory / "log.csv", rows)
    with _duckdb(path, randomness, rescans=False, **how) as population:
        yield population


@contextmanager
def duckdb_parquet(
    rows: Sequence[LogRow],
    randomness: Randomness,
    directory: Path,
    *,
    opt_in: float | None,
    relay: float = 0.0,
    records_per_user: int = 1,
    all_rows: bool = False,
) -> Iterator[Population]:
    """Open a Parquet file in DuckDB, whose users are read a second time by themselves."""
    path = directory / "log.parquet"
    columns = {
        "user": [r.user for r in rows],
        "query": [r.query for r in rows],
        "url": [r.url for r in rows],
        "group": [_group(r) for r in rows],
    }
    pq.write_table(pa.table({name: pa.array(c, pa.string()) for name, c in columns.items()}), path)
    opened = _duckdb(
        path,
        randomness,
        opt_in=opt_in,
        relay=relay,
        records_per_user=records_per_user,
        all_rows=all_rows,
        rescans=True,
    )
    with opened as population:
        yield population


def on_spark(spark: SparkSession) -> Callable[..., AbstractContextManager[Population]]:
    """Return the constructor of a population on Spark, from a CSV file."""

    @contextmanager
    def opened(
        rows: Sequence[LogRow],
        randomness: Randomness,
        directory: Path,
        *,
        opt_in: float | None,
        relay: float = 0.0,
        records_per_user: int = 1,
        all_rows: bool = False,
    ) -> Iterator[Population]:
        path = write_csv(directory / "log.csv", rows)
        columns = LogColumns(group="group" if opt_in is None else None)
        frames = KeptFrames()
        try:
            log = open_spark_log(spark, [path], frames, columns=columns)
            yield open_population(
                SparkTables(spark, log, frames),
                randomness,
                opt_in=opt_in,
                relay=relay,
                records_per_user=records_per_user,
                all_rows=all_rows,
            )
        finally:
            frames.drop_all()

    return opened


def write_csv(path: Path, rows: Sequence[LogRow]) -> Path:
    """Write a log under the header user, query, url, group."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "query", "url", "group"])
        writer.writerows([r.user, r.query or "", r.url or "", _group(r)] for r in rows)
    return path


POPULATIONS = {
    "in memory": in_memory,
    "DuckDB, CSV": duckdb_csv,
    "DuckDB, Parquet": duckdb_parquet,
}


def _group(row: LogRow) -> str:
    return "opt-in" if row.opt_in else "client"
