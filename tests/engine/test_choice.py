"""The engine that auto takes, and what is said where Spark cannot run."""

from pathlib import Path

import pytest

from blender_dp.core.errors import BlenderError, InputError, MissingExtraError
from blender_dp.engine import choice
from blender_dp.engine.choice import EngineName, choose_engine, is_remote
from blender_dp.engine.spark import session as spark_session
from logs import popular_rows, write_csv


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "log.csv", popular_rows(9))


def without(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (choice, spark_session):
        monkeypatch.setattr(where, "is_installed", lambda name: name != module)


def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(spark_session, "is_running", lambda: False)
    monkeypatch.setattr("shutil.which", lambda _: None)


def test_a_small_log_is_counted_here(log: Path) -> None:
    chosen = choose_engine("auto", [log], master="spark://host:7077")
    assert chosen.name == "duckdb"
    assert chosen.reason.endswith("and up to 50 GB it is faster")


def test_a_large_log_goes_to_a_cluster_if_there_is_one(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "ONE_MACHINE_BYTES", 10)
    monkeypatch.setattr(choice, "is_running", lambda: False)
    assert choose_engine("auto", [log], master="spark://host:7077").name == "spark"
    alone = choose_engine("auto", [log], master=None)
    assert (alone.name, alone.reason.split(", but ")[1]) == (
        "duckdb",
        "no --master names a cluster",
    )
    without("pyspark", monkeypatch)
    assert "Spark is not installed" in choose_engine("auto", [log], master="spark://x").reason


@pytest.mark.parametrize("path", ["hdfs://node/log", "s3a://bucket/log.parquet", "table:searches"])
def test_what_only_spark_reads_is_counted_on_spark(path: str) -> None:
    assert is_remote(path)
    assert choose_engine("auto", [path], master=None).name == "spark"
    with pytest.raises(BlenderError, match="reads files of this machine, https://"):
        choose_engine("duckdb", [path], master=None)


@pytest.mark.parametrize("path", ["https://host.example/log.csv", "s3://b/x", "gs://b/x"])
def test_an_address_is_fetched_for_duckdb(path: str) -> None:
    for engine in ("auto", "duckdb"):
        assert choose_engine(engine, [path], master=None).name == "duckdb"


def test_a_cluster_reads_s3_where_duckdb_has_no_extension(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert choose_engine("auto", ["s3://b/x"], master="spark://host:7077").name == "spark"
    both = ["s3://b/x", "https://host.example/log.csv"]
    assert choose_engine("auto", both, master="spark://host:7077").name == "duckdb"


@pytest.mark.parametrize(
    ("engine", "others"), [("spark", ()), ("auto", ("hdfs://node/log",))], ids=["asked", "needed"]
)
def test_spark_is_given_no_address_of_the_web(engine: EngineName, others: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refusal:
        choose_engine(engine, [*others, "https://host.example/log.csv?key=1"], master=None)
    assert str(refusal.value) == (
        "https://host.example/log.csv: Spark does not read addresses of the web; leave --engine out"
    )


@pytest.mark.parametrize("path", ["log.csv", "/a/b.tsv", "a:b.csv", "C/x", Path("table")])
def test_other_paths_are_of_this_machine(path: str | Path) -> None:
    assert not is_remote(path)


def test_without_the_extra_one_sentence_says_what_to_install(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("pyspark", monkeypatch)
    with pytest.raises(MissingExtraError) as refusal:
        choose_engine("spark", [log], master=None)
    needed = "--engine spark needs an optional part: pip install 'blender-dp[spark]'"
    assert str(refusal.value) == needed


def test_without_java_one_sentence_says_what_to_install(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_java(monkeypatch)
    with pytest.raises(BlenderError) as refusal:
        choose_engine("spark", [log], master=None)
    assert str(refusal.value) == (
        "--engine spark needs Java 17 or newer: apt-get install default-jre-headless, "
        "or set JAVA_HOME to where one is unpacked"
    )


def test_a_java_that_java_home_names_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_java(monkeypatch)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert not spark_session.has_java()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    assert spark_session.has_java()
