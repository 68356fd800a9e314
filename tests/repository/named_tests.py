"""Tests that a page or a list names, as ``path::name`` or as the path of a ``.ts`` file."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    """Return the names of the test functions of a file, without importing it."""
    return frozenset(
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name.casefold().startswith("test")
    )


def require_test(test: str) -> None:
    """Fail unless there is such a test."""
    path, _, names = test.partition("::")
    assert (ROOT / path).is_file(), f"no file {path}"
    if path.endswith(".ts"):
        assert not names, f"{test}: vitest is given whole files"
        return
    for name in filter(None, names.split("::")):
        assert name.partition("[")[0] in names_of_tests(ROOT / path), f"no {name} in {path}"
