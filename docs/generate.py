"""Writes the reference pages from the code; ``--check`` fails when one is out of date."""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import blender_dp
from blender_dp.cli.application import app
from blender_dp.server.problems import MEDIA_TYPE, Problem
from blender_dp.service.http.openapi import openapi_document
from blender_dp.service.jobs.failures import Failure

REFERENCE = Path(__file__).parent / "reference"
NOTICE = "<!-- Written by docs/generate.py; change the code, then run `make docs`. -->\n\n"


def command_line() -> str:
    """Return the page of every command and option."""
    return str(app.generate_docs()).strip() + "\n"


def python() -> str:
    """Return the page of every public name."""
    parts = ["# Python\n\n```python\nimport blender_dp as bdp\n```\n"]
    for name in blender_dp.__all__:
        item = getattr(blender_dp, name)
        signature = (
            "" if isinstance(item, type) and issubclass(item, Exception) else _signature(item)
        )
        parts.append(f"## `{name}`\n\n{signature}{inspect.getdoc(item) or ''}\n{_fields(item)}")
    return "\n".join(parts)


def _signature(item: object) -> str:
    if isinstance(item, type) or not callable(item):
        return ""
    return f"```python\n{getattr(item, '__name__', '')}{inspect.signature(item)}\n```\n\n"


def _fields(item: object) -> str:
    """Return the public fields, properties and methods of a class, one line each."""
    if not isinstance(item, type) or issubclass(item, Exception):
        return ""
    lines = [
        f"- `{name}`: {doc.splitlines()[0]}"
        for name, doc in _described(_class_body(item))
        if not name.startswith("_")
    ]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def _class_body(item: type) -> list[ast.stmt]:
    """Return the statements of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    return list(getattr(body, "body", []))


def _described(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield what a class body describes: functions, and fields with a string below them."""
    for statement, following in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(statement, ast.FunctionDef) and (doc := ast.get_docstring(statement)):
            yield statement.name, doc
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            value = f" (default {ast.unparse(statement.value)})" if statement.value else ""
            kind = ast.unparse(statement.annotation)
            yield statement.target.id, f"{kind}{value}. {_text(following)}"


def _text(statement: ast.stmt) -> str:
    """Return the text below a field."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return inspect.cleandoc(str(statement.value.value))
    return ""


def problems() -> str:
    """Return the page of everything that the service refuses."""
    lines = [
        "# Problems of the collection service",
        "",
        f"Every refusal is `{MEDIA_TYPE}` (RFC 9457): `type`, `title` and `status`, and `where`",
        "if a documented field or parameter is at fault. What was sent is never repeated.",
        "401 has `WWW-Authenticate`; 429 and 503 have `Retry-After`, in seconds.",
        "",
        "Two answers are given before there is a request, and have another form: 400 in plain",
        "text to bytes that are no HTTP, and 503 without a body where all connections are busy.",
        "",
        "| status | type `urn:blender-dp:problem:…` | what must be so |",
        "|---|---|---|",
    ]
    for kind in (problem.kind for problem in Problem):
        lines.append(f"| {kind.status} | `{kind.slug}` | {kind.title} |")
    lines += ["", "## Why a job failed", "", "| failure | meaning | advice |", "|---|---|---|"]
    body = _class_body(Failure)
    described = {
        str(member.targets[0].id): _text(text)
        for member, text in pairwise(body)
        if isinstance(member, ast.Assign) and isinstance(member.targets[0], ast.Name)
    }
    lines += [f"| `{one}` | {described[one.name]} | {one.advice} |" for one in Failure]
    return "\n".join(lines) + "\n"


def openapi() -> str:
    """Return the OpenAPI description of the service."""
    return json.dumps(openapi_document(), indent=1, ensure_ascii=False) + "\n"


PAGES = {
    "command-line.md": command_line,
    "python.md": python,
    "problems.md": problems,
    "openapi.json": openapi,
}


def main() -> int:
    """Write the pages, or compare them with what is there."""
    checking = "--check" in sys.argv[1:]
    stale = []
    for name, page in PAGES.items():
        path, text = REFERENCE / name, (NOTICE if name.endswith(".md") else "") + page()
        if checking and (not path.exists() or path.read_text(encoding="utf-8") != text):
            stale.append(str(path.relative_to(REFERENCE.parent.parent)))
        elif not checking:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run `make docs`\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
