"""The command in this process, the installed script in its own, and logs for both."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.outcomes import PROMISE, Command, Outcome, going_on

from blender_dp.cli import main
from logs import popular_rows, write_csv

SCRIPT = Path(sys.executable).with_name("blender-dp")


@pytest.fixture
def cautious(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command line as it is given, without ``--yes``."""
    return _in_process(capsys, list)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command line here; a traceback fails the test."""
    return _in_process(capsys, going_on)


def _in_process(
    capsys: pytest.CaptureFixture[str], complete: Callable[[Sequence[str | Path]], list[Any]]
) -> Command:
    def run(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main([str(argument) for argument in complete(arguments)])
        captured = capsys.readouterr()
        return Outcome(status=int(ending.value.code or 0), out=captured.out, err=captured.err)

    return run


@pytest.fixture(scope="session")
def core_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a core install, which has no pandas and so starts faster."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "pandas.py").write_text('raise ImportError("not part of the core install")\n')
    # Python's own settings would change how output is buffered, and a person has none.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return {**inherited, "PYTHONPATH": str(folder), "HOME": str(folder)}


@pytest.fixture
def script(core_environment: dict[str, str]) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts the installed script."""

    def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options = {**pipes, "env": core_environment, **options}
        return subprocess.Popen([str(SCRIPT), *going_on(arguments)], text=True, **options)

    return start


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return an empty folder for results, where leftovers show."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("log") / "log.csv", popular_rows())


@pytest.fixture(scope="session")
def head_list(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published head list; the curator's estimates lie beside it. Not to be changed."""
    curated = tmp_path_factory.mktemp("curator") / "curated"
    with pytest.raises(SystemExit):
        main(["head-list", str(log), *PROMISE, "--yes", "-o", str(curated)])
    return curated / "head_list.json"


@pytest.fixture(scope="session")
def reports(head_list: Path, log: Path) -> Path:
    """Return the reports of every user of the log against the list. Not to be changed."""
    path = head_list.with_name("reports.parquet")
    with pytest.raises(SystemExit):
        main(["privatize", str(head_list), str(log), "-o", str(path)])
    return path


@pytest.fixture(scope="session")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log on which a run takes several seconds and which is made in one."""
    users, rows = 2_000_000, 6_000_000
    numbers = np.random.default_rng(1).integers(0, users, rows)
    names = pa.array([f"query {i}" for i in range(1000)])
    records = pa.DictionaryArray.from_arrays(pa.array(numbers % 1000, pa.int32()), names)
    sides = pa.DictionaryArray.from_arrays(
        pa.array(numbers % 2, pa.int32()), pa.array(["opt-in", "client"])
    )
    path = tmp_path_factory.mktemp("long") / "log.parquet"
    columns = {"user": numbers, "query": records, "url": records, "side": sides}
    pq.write_table(pa.table(columns), path, compression="none")
    return path
