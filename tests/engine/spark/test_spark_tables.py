"""Spark computes the same integers, bears skew, and tells nobody's secrets."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import narwhals as nw
import pyarrow as pa
import pytest
from contracts.logs import PARAMETERS
from contracts.populations import in_memory, on_spark
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from blender_dp.core.blender import blender
from blender_dp.core.errors import BlenderError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.population.in_memory import LogRow
from blender_dp.engine.population.keyed_permutation import PRIME, KeyedPermutation
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.numbering import Piece, first_numbers
from blender_dp.engine.spark.readers import SparkLog
from blender_dp.engine.spark.tables import SparkTables
from logs import PLANTED

pytestmark = pytest.mark.spark

EXPRESSIONS = "spark.sql.codegen.factoryMode"
EDGES = sorted(
    {
        number
        for multiple in (0, 1, 2, 12_345_678, 2**31 - 649, 2**31 - 1, 2**31)
        for number in range(multiple * PRIME - 2, multiple * PRIME + 3)
        if 0 <= number < 2**62
    }
    | {2**53, 2**53 + 1, 2**62 - 1}
)


def tables_of(spark: SparkSession, rows: pa.Table) -> SparkTables:
    frame = spark.createDataFrame(rows)
    log = SparkLog(
        rows=frame, has_only_records=False, format=LogFormat.CSV, files=(), label="the log"
    )
    return SparkTables(spark, log, KeptFrames())


@pytest.fixture(params=["NO_CODEGEN", "CODEGEN_ONLY"])
def either_spark(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Return a Spark that interprets expressions, as in all tests here, or compiles them."""
    usual = spark.conf.get(EXPRESSIONS) or ""
    spark.conf.set(EXPRESSIONS, request.param)
    yield spark
    spark.conf.set(EXPRESSIONS, usual)


def test_large_numbers_are_hashed_as_in_python(either_spark: SparkSession) -> None:
    key = KeyedPermutation(1_234_567_891, 987_654_321)
    numbers = nw.from_native(either_spark.createDataFrame(pa.table({"x": EDGES})))
    found = key.with_shuffled(numbers, "x").to_native().toArrow().to_pydict()
    of_number = dict(zip(found["x"], found["shuffled"], strict=True))
    assert of_number == {x: key.of_large(x) for x in EDGES}


def test_whole_division_of_sparks_own_would_be_wrong(spark: SparkSession) -> None:
    """The test above has teeth: at these numbers Spark's quotient is one too large."""
    numbers = nw.from_native(spark.createDataFrame(pa.table({"x": EDGES})))
    found = numbers.select("x", y=nw.col("x") // PRIME).to_native().toArrow().to_pydict()
    assert any(y != x // PRIME for x, y in zip(found["x"], found["y"], strict=True))


def test_the_users_number_is_pythons(either_spark: SparkSession) -> None:
    users = ["a", "user 1", "naïve ★", "搜索", "x" * 300, ""]
    tables = tables_of(either_spark, pa.table({"user_key": users}))
    found = tables.fetch(tables.with_user_id(tables.log())).to_pydict()
    digests = [hashlib.md5(user.encode()).digest() for user in users]  # noqa: S324 not for security
    assert found["user_id"] == [int.from_bytes(digest, "little") >> 66 for digest in digests]
    assert found["user"] == users


def skewed_log(seed: int) -> list[LogRow]:
    """Return a log in which one user has half of all rows and one query most of them."""
    rng = Random(seed)
    others = [
        LogRow(f"user {i}", "hot" if rng.random() < 0.8 else f"q{i % 40}", f"{i % 3}.example")
        for i in range(400)
    ]
    busy = [LogRow("busy", "hot", f"{i % 90}.example") for i in range(400)]
    rows = others + busy
    rng.shuffle(rows)
    return rows


def test_a_busy_user_and_a_hot_query_change_nothing(
    spark: SparkSession, seed: int, tmp_path: Path
) -> None:
    rows = skewed_log(seed)
    results = []
    for kind in (on_spark(spark), in_memory):
        with kind(rows, Randomness.seeded(seed), tmp_path, opt_in=0.5) as population:
            results.append(blender(population, PARAMETERS, Randomness.seeded(seed)))
    assert "hot" in results[0].head_list.queries
    assert results[0].head_list == results[1].head_list
    assert results[0].clients.counts.tolist() == results[1].clients.counts.tolist()


def test_what_spark_says_about_the_data_is_not_repeated(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    tables = tables_of(spark, pa.table({"row": [0], "user_key": [PLANTED]}))
    broken = spark.createDataFrame(pa.table({"text": [PLANTED]})).select(
        sf.col("text").cast("int").alias("number")
    )
    with pytest.raises(BlenderError) as caught:
        tables.fetch(nw.from_native(broken))
    assert str(caught.value) == "the Spark engine failed (CAST_INVALID_INPUT)"
    assert caught.value.__cause__ is None
    assert PLANTED not in "".join(capfd.readouterr())


def test_positions_are_those_of_one_sort(spark: SparkSession) -> None:
    rng = Random(1)
    numbers = [rng.randrange(10**6) for _ in range(500)]
    rows = {"shuffled": numbers, "is_client": [n % 2 for n in numbers], "user_key": numbers}
    tables = tables_of(spark, pa.table({"row": [0], "user_key": ["u"]}))
    frame = nw.from_native(spark.createDataFrame(pa.table(rows)).repartition(7))
    placed = tables.fetch(tables.placed(frame, ["is_client", "shuffled"])).to_pydict()
    assert sorted(placed["position"]) == list(range(500))
    in_order = [key for _, key in sorted(zip(placed["position"], placed["user_key"], strict=True))]
    assert in_order == sorted(numbers, key=lambda n: (n % 2, n))


def test_pieces_are_numbered_by_the_order_of_files_not_of_tasks() -> None:
    pieces = [
        Piece(file="b", start=0, first_id=10, rows=3),
        Piece(file="a", start=90, first_id=0, rows=2),
        Piece(file="a", start=0, first_id=50, rows=4),
    ]
    assert first_numbers(pieces, ["a", "b"], has_header=True) == [(4, 10), (3, -1), (-1, 50)]
    assert first_numbers(pieces, ["b", "a"], has_header=False) == [(0, -1), (7, -1), (3, -1)]


def test_what_is_kept_is_computed_by_the_first_query_that_reads_it(spark: SparkSession) -> None:
    tables = tables_of(spark, pa.table({"x": [3, 1, 2]}))
    spark.sparkContext.setJobGroup("keeping", "what is kept")
    try:
        kept = tables.keep(tables.log().with_columns(y=nw.col("x") * 2))
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("keeping")
        assert len(jobs) == 0
        found = tables.fetch(kept.select(total=nw.col("y").sum()))
    finally:
        spark.sparkContext.setJobGroup("others", "what comes after")
    assert found.to_pydict() == {"total": [12]}
    before = len(spark.sparkContext._jsc.getPersistentRDDs())
    assert tables.fetch(kept.select("x", "y")).num_rows == 3
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == before > 0
