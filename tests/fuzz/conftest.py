"""What ``run`` and the single steps write of one small log, made once for all targets."""

import contextlib
import io
from pathlib import Path

import pytest
from fuzz.seeds import PRESETS, Seeds

from blender_dp.cli import main


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Seeds:
    directory = tmp_path_factory.mktemp("seeds")
    log = directory / "log.parquet"
    _do("synth", "--shape", "zipf", "--users", "2000", "--seed", "1", "-o", str(log))
    for preset in PRESETS:
        _make(log, directory / preset, preset)
    return Seeds(directory)


def _make(log: Path, at: Path, preset: str) -> None:
    wanted = (
        *("--epsilon", "4", "--delta", "1e-5", "--preset", preset, "--seed", "1"),
        *("--head-list-size", "3"),
    )
    _do("head-list", str(log), "--yes", "-o", str(at), *wanted)
    listed = f"{at}/head_list.json"
    _do("privatize", listed, str(log), "-o", f"{at}/reports.jsonl", "--seed", "1")
    _do("estimate", listed, f"{at}/reports.jsonl", "-o", f"{at}/client_estimates.json")
    _do("run", str(log), "--yes", "-o", f"{at}/run", "--opt-in", "0.5", *wanted)


def _do(*arguments: str) -> None:
    """Run a command quietly; fail if it did not end well."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(arguments)
        except SystemExit as end:
            if end.code != 0:
                raise RuntimeError(said.getvalue()) from end
