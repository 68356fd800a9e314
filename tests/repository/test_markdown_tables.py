"""Tables of pages: every row has as many cells as the header, or a reader would lose some."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "src", "benchmarks", "deploy", "test_vectors")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")


def broken_rows(page: str) -> Iterator[int]:
    """Yield the lines whose cells are not as many as in the rule below the header."""
    cells, is_code = 0, False
    for number, line in enumerate(page.splitlines(), 1):
        is_code ^= line.startswith("```")
        if is_code or not line.startswith("|"):
            cells = 0
        elif _RULE.fullmatch(line.strip()):
            cells = len(_BAR.findall(line))
        elif cells and len(_BAR.findall(line)) != cells:
            yield number


def test_a_bar_inside_a_cell_is_noticed() -> None:
    head = "| a | b |\n|---|---|\n"
    assert list(broken_rows(head + "| `x` | `\\|` |\n| 1 | 2 |\n")) == []
    assert list(broken_rows(head + "| `x` | `|` |\n")) == [3]


def test_the_tables_of_all_pages_are_whole() -> None:
    pages = [
        *ROOT.glob("*.md"),
        *(page for name in FOLDERS for page in (ROOT / name).rglob("*.md")),
    ]
    assert len(pages) > 50
    found = {
        str(page.relative_to(ROOT)): lines
        for page in pages
        if (lines := list(broken_rows(page.read_text(encoding="utf-8"))))
    }
    assert found == {}
