"""The notebooks of the docs run from top to bottom, and are committed without results."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from documented_pages import free_port

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells_of(notebook: Path) -> list[dict[str, Any]]:
    return list(json.loads(notebook.read_text(encoding="utf-8"))["cells"])


def program_of(notebook: Path) -> str:
    """Return the cells of code as one program; each begins with a line that names it.

    Port 8080 becomes a free one.
    """
    code = ["".join(cell["source"]) for cell in cells_of(notebook) if cell["cell_type"] == "code"]
    program = "\n".join(f"# cell {number}\n{text}" for number, text in enumerate(code, 1)) + "\n"
    return program.replace("8080", str(free_port()))


def test_the_notebooks_are_found() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert {"add-a-mechanism", "analyse-a-log", "plan-and-run-a-collection"} <= {*names}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_results(notebook: Path) -> None:
    for cell in cells_of(notebook):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            assert not [line for line in cell["source"] if line.startswith(("%", "!"))]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook: Path, tmp_path: Path) -> None:
    program = tmp_path / f"{notebook.stem}.py"
    program.write_text(program_of(notebook), encoding="utf-8")
    with (tmp_path / "printed.txt").open("w", encoding="utf-8") as printed:
        process = subprocess.Popen(
            [sys.executable, "-W", "error::DeprecationWarning", str(program)],
            cwd=tmp_path,
            env={**os.environ, "MPLBACKEND": "agg"},
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=600)
        finally:
            with suppress(ProcessLookupError):  # a service that a failed cell left behind
                os.killpg(process.pid, signal.SIGKILL)
    assert status == 0, (tmp_path / "printed.txt").read_text(encoding="utf-8")
