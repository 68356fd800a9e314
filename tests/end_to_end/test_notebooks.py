"""The notebooks of the docs run from top to bottom, and are committed without results."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells_of(notebook: Path) -> list[dict[str, Any]]:
    return list(json.loads(notebook.read_text(encoding="utf-8"))["cells"])


def program_of(notebook: Path) -> str:
    """Return the cells of code as one program; each begins with a line that names it."""
    code = ["".join(cell["source"]) for cell in cells_of(notebook) if cell["cell_type"] == "code"]
    return "\n".join(f"# cell {number}\n{text}" for number, text in enumerate(code, 1)) + "\n"


def test_the_notebooks_are_found() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert {"add-a-mechanism", "analyse-a-log"} <= {*names}


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
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", str(program)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
