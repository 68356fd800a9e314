"""The Python in the README and in the tutorials runs as it is printed."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def documented() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]


def test_blocks_are_found() -> None:
    page = "Text\n```python\na = 1\n```\nmore\n```sh\nls\n```\n```python\nb = a\n```\n"
    assert BLOCK.findall(page) == ["a = 1\n", "b = a\n"]


def test_every_block_of_python_runs_below_the_ones_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for page in documented():
        folder = tmp_path / page.stem
        folder.mkdir()
        monkeypatch.chdir(folder)
        # Each block keeps its line numbers, so that a failure points into the page.
        text = page.read_text(encoding="utf-8")
        lines = [""] * (text.count("\n") + 1)
        for block in BLOCK.finditer(text):
            first = text.count("\n", 0, block.start(1))
            code = block[1].splitlines()
            lines[first : first + len(code)] = code
        program = folder / f"{page.stem}.py"
        program.write_text("\n".join(lines), encoding="utf-8")
        runpy.run_path(str(program))
