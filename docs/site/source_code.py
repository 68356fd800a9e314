"""Source files that pages name: where a name is defined, and a page with numbered lines."""

import ast
import json
from functools import cache
from pathlib import Path

PACKAGE = "blender_dp"


class SourceCode:
    """Files of the repository, and those of them that pages have named."""

    def __init__(self, root: Path, tracked: list[str]) -> None:
        """Take the repository and its files."""
        self.root = root
        self._tracked = {*tracked}
        self._named: set[str] = set()
        inside = [Path(name).parts for name in tracked if name.startswith(f"src/{PACKAGE}/")]
        self._layers = {parts[2] for parts in inside if len(parts) > 3}

    def place_of(self, name: str) -> tuple[str, int] | None:
        """Return file and line of a path, ``path::test`` or dotted name; None for others."""
        path, _, test = name.partition("::")
        if path in self._tracked and not path.endswith(".md"):
            return path, _line_of(self.root / path, test.split("::")) if test else 0
        parts = name.split(".")
        if parts[0] in self._layers:
            parts.insert(0, PACKAGE)
        if parts[0] != PACKAGE:
            return None
        for length in range(len(parts), 1, -1):
            for end in (".py", "/__init__.py"):
                module = "src/" + "/".join(parts[:length]) + end
                if module in self._tracked:
                    return self._in_module(module, parts[length:])
        return None

    def public_place_of(self, name: str) -> tuple[str, int]:
        """Return file and line of a public name: where the package imports it from."""
        package = f"src/{PACKAGE}/__init__.py"
        for node in ast.walk(_tree(self.root / package)):
            if isinstance(node, ast.ImportFrom) and name in (one.asname for one in node.names):
                found = self.place_of(f"{node.module}.{name}") or self.place_of(str(node.module))
                return found or (package, 0)
        return package, 0

    def _in_module(self, module: str, rest: list[str]) -> tuple[str, int] | None:
        if not rest:
            return module, 0
        line = _line_of(self.root / module, rest)
        return (module, line) if line else None

    def page_of(self, path: str) -> str:
        """Return the page of a source file, and remember that it is needed."""
        self._named.add(path)
        return f"source/{path}.html"

    def write_pages(self, folder: Path) -> None:
        """Write the list of source files that need a page, for Sphinx."""
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            path: (self.root / path).read_text(encoding="utf-8") for path in sorted(self._named)
        }
        (folder / "files.json").write_text(json.dumps(texts), encoding="utf-8")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _line_of(path: Path, names: list[str]) -> int:
    """Return the line where nested names are defined; 0 if they are not."""
    body: list[ast.stmt] = _tree(path).body
    line = 0
    for name in names:
        found = next((one for one in body if name.partition("[")[0] in _defined(one)), None)
        if found is None:
            return 0
        line, body = found.lineno, getattr(found, "body", [])
    return line


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [one.id for one in statement.targets if isinstance(one, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []
