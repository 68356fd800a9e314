"""Rule for the core: no input, no output; randomness of the system is its only door."""

import ast
from pathlib import Path

CORE = Path(__file__).parents[2] / "src" / "blender_dp" / "core"
ALLOWED = {
    *("ast", "bisect", "collections", "dataclasses", "decimal", "enum", "fractions", "functools"),
    "heapq",
    *("hashlib", "importlib", "itertools", "math", "statistics", "threading", "typing", "weakref"),
    *("numbers", "unicodedata"),
    *("numpy", "cryptography", "blender_dp"),
}
"""Packages that read and write nothing; others are added here with a reason."""
SYSTEM_CALLS = {"exact/randomness.py": {"urandom", "register_at_fork"}}
"""Names of ``os`` that a file may use: fresh keys, and new ones after a fork."""
DOORS = {"open", "print", "input", "exec", "eval", "__import__", "fromfile", "tofile", "memmap"}


def faults_of(name: str, text: str) -> set[str]:
    tree, found = ast.parse(text), set()
    allowed = ALLOWED | ({"os"} if name in SYSTEM_CALLS else set())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            packages = {(node.module or "").split(".")[0]} | ({"os.*"} & {f"{node.module}.*"})
        else:
            packages = set()
        found |= {f"{name} imports {package}" for package in packages - allowed}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "os" and node.attr not in SYSTEM_CALLS.get(name, set()):
                found.add(f"{name} uses os.{node.attr}")
            if node.value.id == "np" and node.attr in DOORS | {"load", "save", "savez"}:
                found.add(f"{name} uses np.{node.attr}")
        if isinstance(node, ast.Name) and node.id in DOORS:
            found.add(f"{name} uses {node.id}")
    return found


def test_the_core_reads_and_writes_nothing() -> None:
    found: set[str] = set()
    for path in CORE.rglob("*.py"):
        found |= faults_of(path.relative_to(CORE).as_posix(), path.read_text(encoding="utf-8"))
    assert found == set()


def test_every_door_is_seen() -> None:
    for line in (
        *("import os", "import io", "import socket", "import sqlite3", "import duckdb"),
        *("import subprocess", "from pathlib import Path", "from os import open", "open('a')"),
        *("import numpy as np\nnp.load('a')", "import blender_dp\nprint(1)", "os.remove('a')"),
    ):
        assert faults_of("blender.py", line), line
    assert faults_of("exact/randomness.py", "import os\nos.urandom(1)") == set()
    assert faults_of("exact/randomness.py", "import os\nos.remove('a')")
    assert faults_of("exact/randomness.py", "from os import remove")
