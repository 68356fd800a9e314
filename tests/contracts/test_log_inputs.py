"""One log in every form that ``bdp.run`` takes: the same rows give the same result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import blender_dp as bdp

PARAMETERS = bdp.Parameters(epsilon=4, delta=1e-4)
COLUMNS: Any = {"user": "account", "query": "search", "url": "clicked"}
USERS = 300


def table() -> pa.Table:
    """Return rows of users who have three each: their order decides which is drawn."""
    rows = range(3 * USERS)
    return pa.table(
        {
            "noise": [row / 7 for row in rows],
            "account": [row % USERS for row in rows],
            "search": [
                None if row % 50 == 0 else f"quêry {(row + row // USERS) % 5}" for row in rows
            ],
            "clicked": [f"{(row + row // USERS) % 5}.example" for row in rows],
            "side": ["opt-in" if row % USERS % 2 else "client" for row in rows],
        }
    )


class Stream:
    """An object of no library, which only streams Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return table().__arrow_c_stream__(requested_schema)


def written(folder: Path, form: str) -> Path:
    path = folder / f"log.{form}"
    pq.write_table(table(), path) if form == "parquet" else table().to_pandas().to_csv(path)
    return path


def filtered() -> pd.DataFrame:
    """Return the same rows, chosen from more: the index has gaps."""
    rows = table().to_pandas()
    more = pd.concat([rows.iloc[:10], rows.iloc[:1], rows.iloc[10:]], ignore_index=True)
    return more[more.index != 10]


FORMS: dict[str, Callable[[Path], Any]] = {
    "file": lambda folder: written(folder, "parquet"),
    "name of a file": lambda folder: str(written(folder, "csv")),
    "list of files": lambda folder: [written(folder, "parquet")],
    "Arrow table": lambda _: table(),
    "Arrow batch": lambda _: table().to_batches()[0],
    "Arrow stream": lambda _: table().to_reader(max_chunksize=100),
    "Arrow dataset": lambda folder: ds.dataset(written(folder, "parquet")),
    "object with a stream": lambda _: Stream(),
    "pandas": lambda _: table().to_pandas(),
    "pandas with objects": lambda _: table().to_pandas().astype(object),
    "pandas with categories": lambda _: table().to_pandas().astype({"search": "category"}),
    "pandas with an index": lambda _: table().to_pandas().set_index("noise"),
    "pandas, filtered": lambda _: filtered(),
    "polars": lambda _: pl.DataFrame(table()),
    "lazy polars": lambda _: pl.LazyFrame(table().to_pydict()),
    "DuckDB": lambda _: duckdb.from_arrow(table()),
    "DuckDB file": lambda folder: duckdb.sql(f"FROM '{written(folder, 'parquet')}'"),
}


@pytest.fixture(scope="module")
def expected() -> bdp.RunResult:
    return bdp.run(table(), PARAMETERS, **COLUMNS, opt_in=0.3, seed=7)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_rows_give_the_same_result_in_every_form(
    form: str, expected: bdp.RunResult, tmp_path: Path
) -> None:
    found = bdp.run(FORMS[form](tmp_path), PARAMETERS, **COLUMNS, opt_in=0.3, seed=7)
    assert found.records.equals(expected.records)
    assert found.queries.equals(expected.queries)


def test_rows_in_another_order_are_another_log(expected: bdp.RunResult) -> None:
    """The contract above has teeth: it would notice a form that loses the order of rows."""
    turned = table().take(list(range(3 * USERS))[::-1])
    found = bdp.run(turned, PARAMETERS, **COLUMNS, opt_in=0.3, seed=7)
    assert not found.records.equals(expected.records)


@pytest.mark.spark
def test_a_frame_of_spark_is_counted_on_spark(spark: Any, expected: bdp.RunResult) -> None:
    frame = spark.createDataFrame(table())
    found = bdp.run(frame, PARAMETERS, **COLUMNS, opt_in=0.3, seed=7)
    assert (found.engine.name, found.format, found.files) == ("spark", "pyspark", ())
    assert found.records.equals(expected.records)
    assert spark.catalog.listTables("global_temp") == []
    here = bdp.run(frame, PARAMETERS, **COLUMNS, opt_in=0.3, seed=7, engine="duckdb")
    assert here.records.equals(expected.records)


def test_a_column_names_the_groups_of_a_table() -> None:
    found = bdp.run(table(), PARAMETERS, **COLUMNS, group="side", seed=7)
    assert found.release().opt_in_users == USERS // 2


def test_a_synthetic_log_is_a_log(tmp_path: Path) -> None:
    log = bdp.synthesize("aol", users=3_000, seed=3)
    found = bdp.run(log, PARAMETERS, opt_in=0.3, seed=7)
    pq.write_table(pa.table(log), tmp_path / "log.parquet")
    same = bdp.run(tmp_path / "log.parquet", PARAMETERS, opt_in=0.3, seed=7)
    assert found.records.equals(same.records)
    assert (found.synthetic, same.synthetic) == (True, False)


def mixed() -> pd.DataFrame:
    return pd.DataFrame({"user": [1, "two"], "query": ["a", "b"], "url": ["x", "y"]}, dtype=object)


class Thing:
    """A value of no library."""


def closed() -> Any:
    """Return a relation whose connection is closed."""
    connection = duckdb.connect()
    relation = connection.sql("SELECT '1' AS user, 'a' AS query, 'x' AS url")
    connection.close()
    return relation


def with_queries(queries: Any, library: Callable[[dict[str, Any]], Any] = pd.DataFrame) -> Any:
    return library({"user": ["1", "2"], "query": queries, "url": ["x", "y"]})


UNREADABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "polars objects": (
        lambda: with_queries(pl.Series([Thing(), Thing()], dtype=pl.Object), pl.DataFrame),
        "the polars table: column query has the type Object, which cannot be read; make all of it",
    ),
    "lazy polars objects": (
        lambda: with_queries(pl.Series([Thing(), Thing()], dtype=pl.Object), pl.LazyFrame),
        "the polars table: column query has the type Object, which cannot be read",
    ),
    "Int128": (
        lambda: with_queries(pl.Series([1, 2], dtype=pl.Int128), pl.DataFrame),
        "column query has the type Int128, which cannot be read",
    ),
    "Period": (
        lambda: with_queries(pd.PeriodIndex(["2020-01"] * 2, freq="M")),
        r"has the type period\[M\], which .*; make all of its values texts, "
        r"as with \.astype\(str\)$",
    ),
    "Interval": (
        lambda: with_queries(pd.IntervalIndex.from_tuples([(0, 1)] * 2)),
        r"column query has the type interval\[int64, right\], which cannot be read",
    ),
    "cut": (
        lambda: with_queries(pd.cut([1, 2], 2)),
        r"column query has the type category of interval\[float64, right\], which cannot be read",
    ),
    "sparse": (
        lambda: with_queries(pd.arrays.SparseArray([1, 2])),
        r"column query has the type Sparse\[int64, 0\], which cannot be read",
    ),
    "complex": (
        lambda: with_queries([1j, 2j]),
        "column query has the type complex128, which cannot be read",
    ),
    "objects": (
        lambda: with_queries([Thing(), Thing()]),
        "column query has values of the type Thing, which cannot be read; make all of its values",
    ),
    "large integers": (
        lambda: with_queries([1 << 70, 1 << 71]),
        "column query has integers beyond 64 bits; make all of its values texts",
    ),
    "float16": (
        lambda: with_queries(pa.array(np.array([1, 2], np.float16)), pa.table),
        "column query has the type halffloat, which cannot be read",
    ),
    "stream of float16": (
        lambda: with_queries(pa.array(np.array([1, 2], np.float16)), pa.table).to_reader(),
        "column query has the type halffloat, which cannot be read",
    ),
    "decimal256": (
        lambda: with_queries(pa.array([1, 2], pa.decimal256(50)), pa.table),
        r"column query has the type decimal256\(50, 0\), which cannot be read",
    ),
    "closed connection": (closed, "the duckdb table: its connection is closed; keep it open unt"),
    "no columns": (lambda: pd.DataFrame(index=[1, 2]), "the pandas table: it has no columns$"),
    "index": (
        lambda: with_queries(["a", "b"]).set_index("user"),
        r"the pandas table: user is its index; make it a column with \.reset_index\(\)",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_table_that_cannot_be_read_is_refused_with_the_reason(case: str) -> None:
    table, sentence = UNREADABLE[case]
    with pytest.raises(bdp.BlenderError, match=sentence) as raised:
        bdp.run(table(), PARAMETERS, opt_in=0.3)
    assert "\n" not in str(raised.value)


def test_a_column_that_is_not_wanted_may_have_any_type() -> None:
    rows = table().append_column("half", pa.array(np.zeros(3 * USERS, np.float16)))
    found = bdp.run(ds.dataset(rows), PARAMETERS, **COLUMNS, opt_in=0.3, seed=7)
    assert found.files == ()


def unlabelled() -> pa.Table:
    return pa.table({"user": ["1"], "query": ["a"], "url": ["x"], "side": [None]})


@pytest.mark.parametrize(
    ("log", "columns", "sentence"),
    [
        (5, {}, "log must be paths, or a table of .*; got 'int'"),
        ({"user": ["1"]}, {}, "log must be paths, or a table of .*; got 'dict'"),
        ([], {}, "log must be paths, or a table of .*; got 'list'"),
        (pd.Series([1]), {}, "log must be paths, or a table of .*; got 'Series'"),
        (pa.table({"who": ["1"]}), {}, "the pyarrow table: there is no column user, only who; "),
        (pa.table({"who": ["1"]}), {"user": "id"}, "no column id, only who; choose with user=$"),
        (pl.DataFrame({"User": ["1"]}), {}, "the polars table: there is no column query, only U"),
        (mixed(), {}, "the pandas table: column user has values of several types; make all "),
        (unlabelled(), {"group": "side"}, "the group column side must be opt-in or client in"),
        (bdp.Log(paths=["x.csv"]), {"user": "id"}, "left out if a Log describes the columns"),
        (pa.table({"user": ["1"]}), {"engine": "spark"}, "engine must be duckdb or auto for a"),
        (pl.LazyFrame({"user": ["1"]}).select("nope"), {}, "the lazy table: its query fails"),
        (bdp.Log(paths="none.csv"), {}, "^none.csv: there is no such file or folder"),
    ],
)
def test_what_is_no_log_is_refused_in_one_sentence(
    log: object, columns: dict[str, Any], sentence: str
) -> None:
    share: Any = {} if "group" in columns else {"opt_in": 0.5}
    with pytest.raises(bdp.BlenderError, match=sentence):
        bdp.run(log, PARAMETERS, **columns, **share)


def test_two_columns_of_one_name_are_refused() -> None:
    rows = table().to_pandas()
    with pytest.raises(bdp.BlenderError, match="has two columns of the same name; rename one"):
        bdp.run(pd.concat([rows, rows[["noise"]]], axis=1), PARAMETERS, **COLUMNS, opt_in=0.3)


def test_a_log_shows_none_of_its_rows() -> None:
    for rows in (table().to_pandas(), pl.DataFrame(table())):
        assert "example" not in repr(bdp.Log.of(rows, bdp.LogColumns(**COLUMNS)))


def test_a_time_is_the_same_text_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    times = table().to_pandas()
    times["search"] = pd.Timestamp("2024-01-01", tz="UTC")
    found = []
    for zone in ("UTC", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        found.append(bdp.run(times, PARAMETERS, **COLUMNS, opt_in=0.3, seed=7).records)
    assert found[0].equals(found[1])
