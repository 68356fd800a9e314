"""Modules that a start of the command loads: those that it uses, and no others."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.outcomes import PROMISE

FOREIGN_TO_RUN = {
    *("blender_dp.audit", "blender_dp.client", "blender_dp.evaluation", "blender_dp.planning"),
    *("blender_dp.service", "asyncpg", "litestar", "matplotlib", "pandas", "polars"),
    *("pyspark", "scipy", "uvicorn"),
}
FOREIGN_TO_VERSION = FOREIGN_TO_RUN | {"blender_dp.engine", "duckdb", "numpy", "pyarrow"}
PROGRAM = """
import json, sys
from blender_dp.cli import main
_, place, *sys.argv[1:] = sys.argv
try:
    main()
finally:
    with open(place, "w") as file:
        json.dump(sorted(name for name, module in sys.modules.items() if module), file)
"""
Loaded = Callable[..., set[str]]


@pytest.fixture
def loaded(tmp_path: Path, core_environment: dict[str, str]) -> Loaded:
    """Return a function that runs a command in a new process and lists the modules it loaded."""

    def run(*arguments: str | Path) -> set[str]:
        listed = tmp_path / "modules.json"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, listed, *arguments],
            env=core_environment,
            capture_output=True,
            check=True,
        )
        return set(json.loads(listed.read_text(encoding="utf-8")))

    return run


def test_the_version_needs_no_engine(loaded: Loaded) -> None:
    assert loaded("--version") & FOREIGN_TO_VERSION == set()


def test_help_of_run_loads_what_run_uses(loaded: Loaded) -> None:
    assert loaded("run", "--help") & FOREIGN_TO_RUN == set()


def test_a_run_loads_what_it_uses(loaded: Loaded, log: Path, tmp_path: Path) -> None:
    modules = loaded("run", log, *PROMISE, "--yes", "--opt-in=0.5", "-o", tmp_path / "out")
    assert modules & FOREIGN_TO_RUN == set()
    assert "blender_dp.engine.run" in modules


@pytest.mark.parametrize("command", ["certify", "search", "token", "trends"])
def test_a_command_that_reads_no_log_loads_no_engine(loaded: Loaded, command: str) -> None:
    assert "duckdb" not in loaded(command, "--help")


def test_a_service_starts_without_the_engine_of_its_jobs_and_without_the_planner() -> None:
    program = "import sys, blender_dp.cli.serving; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"duckdb", "blender_dp.planning"} & {*printed} == set()
    assert "blender_dp.service.jobs.worker" in printed


def test_other_commands_are_noticed(loaded: Loaded) -> None:
    modules = loaded("audit", "--help")
    assert "blender_dp.audit" in modules
    assert "blender_dp.evaluation" not in modules
