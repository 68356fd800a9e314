"""One synthetic log in every format, and what a run makes of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blender_dp.cli import main
from blender_dp.engine.synthetic import Shape, ShapeOptions, synthesize, write_aol, write_log

USERS = 20_000
PROMISE = ("--epsilon=4", "--delta=1e-4")
SIDES = ("--opt-in=0.2", "--head-list-size=30")

BlenderDp = Callable[..., None]


def blender_dp(*arguments: str | Path) -> None:
    """Run a command that must succeed; small logs need a large δ, and ``--yes`` for it."""
    yes = ["--yes"] if arguments[0] in ("run", "head-list") else []
    with pytest.raises(SystemExit) as ending:
        main([*map(str, arguments), *yes])
    assert not ending.value.code


@pytest.fixture(scope="session", name="blender_dp")
def blender_dp_fixture() -> BlenderDp:
    return blender_dp


@pytest.fixture(scope="session")
def logs_of_one_kind(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the same records as .csv, .tsv, .tsv.gz and .parquet, and in AOL's layout."""
    folder = tmp_path_factory.mktemp("logs")
    log = synthesize(Shape.AOL, USERS, seed=5, options=ShapeOptions(mean_records=2))
    paths = {suffix: folder / f"log.{suffix}" for suffix in ("csv", "tsv", "tsv.gz", "parquet")}
    for path in paths.values():
        write_log(log, path)
    paths["aol"] = folder / "aol.txt"
    write_aol(log, paths["aol"])
    return paths


@pytest.fixture(scope="session")
def log(logs_of_one_kind: dict[str, Path]) -> Path:
    return logs_of_one_kind["csv"]


@pytest.fixture(scope="session")
def result(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run with a seed. Not to be changed."""
    out = tmp_path_factory.mktemp("runs") / "seeded"
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=7", "-o", out)
    return out


@pytest.fixture(scope="session")
def private_result(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run without a seed. Not to be changed."""
    out = tmp_path_factory.mktemp("runs") / "private"
    blender_dp("run", log, *PROMISE, *SIDES, "-o", out)
    return out


@pytest.fixture(scope="session")
def read_json() -> Callable[[Path], Any]:
    return lambda path: json.loads(path.read_text(encoding="utf-8"))
