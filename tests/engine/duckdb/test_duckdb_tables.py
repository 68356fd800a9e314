"""The embedded engine keeps to its memory, numbers rows safely and tells nobody's secrets."""

from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.duckdb.readers import LogFormat, LogSource, open_log
from blender_dp.engine.duckdb.tables import DuckDBTables, connect
from blender_dp.engine.population.record_key import RecordKey
from blender_dp.engine.population.sampling import MOST_ROWS
from blender_dp.engine.population.table_population import TablePopulation, open_population

PLANTED = "hush-hush"


def write_log(path: Path, rows: int, users: int, name: str = "q") -> Path:
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "user": [f"u{u}" for u in rng.integers(0, users, rows)],
            "query": [f"{name} {q} {'x' * 40}" for q in rng.integers(0, rows // 4, rows)],
            "url": [f"https://{u}.example" for u in rng.integers(0, 5, rows)],
        }
    )
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        path.write_text(
            "\n".join(
                "\t".join(row)
                for row in [
                    tuple(table.column_names),
                    *zip(*table.to_pydict().values(), strict=True),
                ]
            )
            + "\n",
            encoding="utf-8",
        )
    return path


def population_of(
    path: Path,
    spill: Path,
    memory_limit: int,
    *,
    records_per_user: int = 2,
    all_rows: bool = False,
) -> TablePopulation:
    connection = connect(spill, memory_limit)
    tables = DuckDBTables(connection, open_log(connection, [path]))
    return open_population(
        tables,
        Randomness.seeded(3),
        opt_in=0.5,
        records_per_user=records_per_user,
        all_rows=all_rows,
    )


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_a_log_larger_than_memory_gives_the_same_counts(tmp_path: Path, suffix: str) -> None:
    path = write_log(tmp_path / f"log.{suffix}", rows=400_000, users=250_000)
    classes = [
        [c.tolist() for c in population_of(path, tmp_path, limit).opt_in.record_counts(2).classes()]
        for limit in (64 << 20, 4 << 30)
    ]
    assert classes[0] == classes[1]


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
@pytest.mark.parametrize("records_per_user", [1, 2])  # records have a code, or their texts
def test_all_rows_of_a_log_larger_than_memory_add_up_to_the_same(
    tmp_path: Path, suffix: str, records_per_user: int
) -> None:
    path = write_log(tmp_path / f"log.{suffix}", rows=400_000, users=100_000)
    found = []
    for limit in (64 << 20, 4 << 30):
        users = population_of(
            path, tmp_path, limit, records_per_user=records_per_user, all_rows=True
        ).opt_in
        sums = users.record_weights(np.array([0, 1 << 30, 1 << 29]), 1 << 20)
        found.append([c.tolist() for c in (*sums.classes(), users.distinct_records(9))])
    assert found[0] == found[1]


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, MOST_ROWS - 1),
            st.integers(0, MOST_ROWS - 1),
            st.sampled_from(["", "a", "b", "A", "a\0", "long enough for a heap of texts"]),
            st.sampled_from(["", "a", "b", "another text for the heap of texts"]),
            st.sampled_from([1, 2]),
        ),
        max_size=40,
    )
)
def test_coded_rows_have_the_names_they_had(rows: list[tuple[int, int, str, str, int]]) -> None:
    columns = ("position", "row", "query", "url", "rank")
    given_rows = pa.table(
        {name: [row[place] for row in rows] for place, name in enumerate(columns)},
        schema=pa.schema(
            [(name, pa.string() if name in ("query", "url") else pa.int64()) for name in columns]
        ),
    )
    nameless = given_rows.slice(0, 1).set_column(2, "query", pa.array([None] * min(len(rows), 1)))
    tables = tables_without_a_log(connect(None, 256 << 20))
    coded, names = tables.coded(tables.copy([given_rows, nameless.cast(given_rows.schema)]))
    assert names is not None
    key = RecordKey(names)
    assert key.columns == ("code",)
    codes = tables.fetch(names).to_pydict()
    assert len(set(zip(codes["query"], codes["url"], strict=True))) == len(codes["code"])
    found = tables.fetch(key.with_names(coded).select(*columns))
    assert sorted(zip(*found.to_pydict().values(), strict=True)) == sorted(rows)


def test_records_of_more_rows_than_fit_keep_their_texts(tmp_path: Path) -> None:
    connection = connect(tmp_path, 64 << 20)
    rows = connection.sql("FROM range(5_000_000) AS rows(i)").project(
        """i AS position, i AS "row", 'query ' || i % 2 AS query, 'url' AS url, 1 AS rank"""
    )
    tables = tables_without_a_log(connection)
    kept, names = tables.coded(tables._frame(rows))
    assert names is None
    counts = kept.group_by("query", "url", "rank").agg(count=nw.len(), last=nw.col("row").max())
    assert sorted(tables.fetch(counts).to_pylist(), key=lambda row: row["last"]) == [
        {"query": "query 0", "url": "url", "rank": 1, "count": 2_500_000, "last": 4_999_998},
        {"query": "query 1", "url": "url", "rank": 1, "count": 2_500_000, "last": 4_999_999},
    ]
    assert len(connection.sql("SHOW TABLES").fetchall()) == 1


def tables_without_a_log(connection: duckdb.DuckDBPyConnection) -> DuckDBTables:
    nothing = LogSource(
        sql="",
        has_only_records=True,
        rescans_cheaply=True,
        format=LogFormat.PARQUET,
        files=(),
        bytes=0,
        name="nothing",
    )
    return DuckDBTables(connection, nothing)


def test_a_memory_limit_that_cannot_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="memory_limit must be from 64 MiB"):
        connect(tmp_path, 1 << 20)


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
@pytest.mark.parametrize("records_per_user", [1, 2])
def test_more_rows_than_can_be_numbered_are_refused(
    tmp_path: Path, suffix: str, records_per_user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blender_dp.engine.population.ordered_users.MOST_ROWS", 64)
    path = write_log(tmp_path / f"log.{suffix}", rows=200, users=50)
    connection = connect(tmp_path, 256 << 20)
    tables = DuckDBTables(connection, open_log(connection, [path]))
    with pytest.raises(ParameterError, match="rows must be at most 64 in one log"):
        open_population(tables, Randomness.seeded(3), opt_in=0.5, records_per_user=records_per_user)


def test_a_row_without_a_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"user,query,url\nu1,{PLANTED},w\n,{PLANTED},w\n", encoding="utf-8")
    with pytest.raises(BlenderError, match="every row must name its user") as caught:
        population_of(path, tmp_path, 256 << 20)
    assert PLANTED not in str(caught.value)


def test_what_the_engine_says_about_the_data_is_not_repeated(tmp_path: Path) -> None:
    connection = connect(tmp_path, 256 << 20)
    source = open_log(connection, [write_log(tmp_path / "log.parquet", rows=40, users=9)])
    tables = DuckDBTables(connection, source)
    frame = tables.upload({"text": [PLANTED]})
    broken = frame.to_native().project("CAST(text AS INTEGER) AS number")
    with pytest.raises(duckdb.ConversionException, match=PLANTED):
        broken.fetchall()
    with pytest.raises(BlenderError) as caught:
        tables.fetch(tables._frame(broken))
    assert str(caught.value) == "the database engine failed (ConversionException)"
    assert caught.value.__cause__ is None
