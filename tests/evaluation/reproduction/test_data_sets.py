"""Data sets: when they are made, what tells them apart, what is said of them."""

from pathlib import Path

import numpy as np
import pytest

from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.synthetic import Shape, synthesize, write_aol, write_log
from blender_dp.evaluation.reproduction import data_sets
from blender_dp.evaluation.reproduction.data_sets import DataSet, real_data, synthetic_data
from logs import PLANTED, write_csv


def read(path: Path, format: LogFormat = LogFormat.AUTO) -> DataSet:
    return real_data(Log(paths=[path], format=format), Workspace())


def test_a_synthetic_log_is_described_without_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_sets, "synthesize", lambda *_: pytest.fail("made too early"))
    data = synthetic_data(Shape.AOL)
    assert data.identity == {"synthetic": True, "shape": "aol", "users": 519_371, "seed": 0}
    assert "synthetic" in data.title


def test_statistics_and_names_of_a_synthetic_log() -> None:
    made_up = synthesize(Shape.AOL, users=3_000, seed=1)
    log, statistics = synthetic_data(Shape.AOL, users=3_000, seed=1).make()
    assert log.users == statistics["users"] == 3_000
    assert statistics["records"] == len(made_up)
    assert statistics["queries"] == len(np.unique(made_up.query))
    assert statistics["urls"] == len(np.unique(made_up.query * 9 + made_up.url))
    assert statistics["bytes"] is None
    # Popularity by counting: a row counts 1/(rows of its user).
    weight = 1 / np.bincount(made_up.user)[made_up.user]
    by_id = np.bincount(made_up.query, weights=weight)
    top = np.argsort(-by_id, kind="stable")[:9]
    assert statistics["top_queries"] == [made_up.query_name(int(query)) for query in top]
    assert statistics["top_queries"][0] == "google"


def test_a_real_log_is_known_by_its_contents_and_not_by_its_file(tmp_path: Path) -> None:
    made_up = synthesize(Shape.AOL, users=300, seed=0)
    write_log(made_up, tmp_path / "one.csv")
    write_log(made_up, tmp_path / "another.parquet")
    write_log(synthesize(Shape.AOL, users=300, seed=1), tmp_path / "third.csv")
    one, same, third = (read(tmp_path / n) for n in ("one.csv", "another.parquet", "third.csv"))
    assert one.identity == same.identity
    assert one.identity != third.identity
    assert one.identity["synthetic"] is False
    assert not one.is_synthetic


def test_a_log_in_aols_layout_has_the_records_that_were_written(tmp_path: Path) -> None:
    made_up = synthesize(Shape.AOL, users=300, seed=0)
    write_aol(made_up, tmp_path / "aol.txt")
    log, statistics = read(tmp_path, LogFormat.AOL).make()
    assert statistics["users"] == 300
    assert statistics["records"] == len(made_up)
    assert statistics["bytes"] == (tmp_path / "aol.txt").stat().st_size
    assert statistics["queries"] == log.query.max() + 1 == len(np.unique(made_up.query))


def test_nothing_that_somebody_typed_leaves_a_real_log(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", [(f"u{i}", PLANTED, PLANTED) for i in range(20)])
    data = read(path)
    assert PLANTED not in f"{data.title} {data.identity} {data.make().statistics}"
    assert data.make().statistics["top_queries"] == ["query of rank 1"]
