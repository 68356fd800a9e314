"""A script under spark-submit calls ``bdp.run`` and gets the run of one machine."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

import blender_dp as bdp
from logs import popular_rows, write_parquet
from spark_sessions import START_QUICKLY

pytestmark = pytest.mark.spark

SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
SETTINGS = ("spark.sql.shuffle.partitions=2", "spark.ui.enabled=false")
PARAMETERS = bdp.Parameters(epsilon=6, delta=1e-3, head_list_size=8, preset="paper")
SCRIPT = """
import sys
import pyarrow.parquet as pq
from pyspark import SparkContext
import blender_dp as bdp

parameters = bdp.Parameters(epsilon=6, delta=1e-3, head_list_size=8, preset="paper")
result = bdp.run(sys.argv[1], parameters, opt_in=0.5, seed=8, engine="spark")
pq.write_table(result.records, sys.argv[2])
print(result.engine.name, SparkContext._active_spark_context is not None)
"""


def submitted(script: Path, *words: Path | str) -> str:
    """Submit a script to a Spark of one core, and return what it printed."""
    settings = [word for setting in SETTINGS for word in ("--conf", setting)]
    ended = subprocess.run(
        [SUBMIT, "--master", "local[1]", *settings, script, *words],
        env={
            **{k: v for k, v in os.environ.items() if k != "PYSPARK_SUBMIT_ARGS"},
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JDK_JAVA_OPTIONS": START_QUICKLY,
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_submitted_script_gets_the_same_release(tmp_path: Path) -> None:
    log = write_parquet(tmp_path / "log.parquet", popular_rows())
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    output = tmp_path / "records.parquet"
    printed = submitted(script, log, output).splitlines()  # PySpark warns of a new pandas first
    assert printed[-1] == "spark True", "the session must be left running"
    here = bdp.run(log, PARAMETERS, opt_in=0.5, seed=8, engine="duckdb").records
    assert here.num_rows > 1
    assert pq.read_table(output) == here
