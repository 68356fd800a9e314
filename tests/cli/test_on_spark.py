"""The steps one by one on Spark write what they write here."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli.outcomes import PROMISE, Command
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

REPEATED = "--seed=5"


@pytest.fixture(autouse=True)
def on_the_one_session(spark: SparkSession) -> None:
    """Start Spark before it is asked for, so that one serves all."""
    assert spark is not None


def done(command: Command, *words: str | Path) -> None:
    outcome = command(*words)
    assert outcome.status == 0, outcome.err


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_head_list_privatize_and_estimate_write_the_same(
    command: Command, log: Path, place: Path
) -> None:
    for engine in ("duckdb", "spark"):
        folder, on = place / engine, f"--engine={engine}"
        done(command, "head-list", log, *PROMISE, REPEATED, on, "-o", folder)
        head_list, reports = folder / "head_list.json", folder / "reports.parquet"
        done(command, "privatize", head_list, log, REPEATED, on, "-o", reports)
        done(command, "estimate", head_list, reports, on, "-o", folder / "clients.json")
    here, there = place / "duckdb", place / "spark"
    assert document(here / "head_list.json")["queries"]
    for name in ("head_list.json", "opt_in_estimates.json", "clients.json"):
        assert document(here / name) == document(there / name)
    assert pq.read_table(here / "reports.parquet") == pq.read_table(there / "reports.parquet")
