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


def faults_of(test: str) -> list[str]:
    """Return why there is no such test; nothing if there is one."""
    path, _, names = test.partition("::")
    if not (ROOT / path).is_file():
        return [f"no file {path}"]
    if path.endswith(".ts"):
        return [f"{test}: vitest is given whole files"] if names else []
    known = names_of_tests(ROOT / path)
    wanted = [name.partition("[")[0] for name in names.split("::") if name]
    return [f"no {name} in {path}" for name in wanted if name not in known]
