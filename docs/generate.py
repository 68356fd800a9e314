"""Writes the reference pages from the code; ``--check`` fails when one is out of date."""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import blender_dp
from blender_dp.cli.application import app
from blender_dp.server.problems import MEDIA_TYPE, Problem
from blender_dp.service.http.openapi import openapi_document
from blender_dp.service.jobs.failures import Failure

REFERENCE = Path(__file__).parent / "reference"
HTTP_REFUSALS = 400
"""Answers from this status on are problems."""
BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "minLength": "of at least",
    "maxLength": "of at most",
}
NOTICE = "<!-- Written by docs/generate.py; change the code, then run `make docs`. -->\n\n"


def command_line() -> str:
    """Return the page of every command and option."""
    page = str(app.generate_docs()).strip() + "\n"
    # cyclopts leaves out the dashes of --install-completion, which forges keep in the anchor.
    return page.replace("(#blender-dp-install", "(#blender-dp---install")


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
    """Return the public fields, properties and methods of a class and its bases, one line each."""
    if not isinstance(item, type) or issubclass(item, Exception):
        return ""
    ours = [one for one in item.__mro__ if one.__module__.startswith("blender_dp.")]
    found = {name: doc for one in reversed(ours) for name, doc in _described(_class_body(one))}
    lines = [
        f"- `{name}`: {doc.splitlines()[0]}"
        for name, doc in found.items()
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


def http() -> str:
    """Return the OpenAPI description as a page: every route, then every document."""
    described = openapi_document()
    parts = [
        "# HTTP interface of the collection service\n",
        "Routes by subject, then the documents that they take and return. The same for programs:",
        "[openapi.json](openapi.json). Refusals: [problems](problems.md).\n",
    ]
    routes: dict[str, list[str]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            subject = operation["tags"][0]
            routes.setdefault(subject, []).append(_route(method, path, operation))
    for subject in sorted(routes):
        parts += [f"## {subject.capitalize()}\n", *routes[subject]]
    parts.append("## Documents\n")
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts.append(_document(name, schema))
    return "\n".join(parts)


def _route(method: str, path: str, operation: dict[str, Any]) -> str:
    """Return the section of one route: what it does, takes and answers."""
    token = " Needs a token." if operation.get("security") else ""
    lines = [f"### {method.upper()} {path}\n", f"{operation.get('description', '')}{token}\n"]
    rows = [
        f"| `{one['name']}` | {one['in']} | {_kind(one.get('schema', {}))} "
        f"| {_sentence(one.get('description'))} |"
        for one in operation.get("parameters", [])
    ]
    if rows:
        lines += ["| parameter | in | type | meaning |", "|---|---|---|---|", *rows, ""]
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        lines.append(f"Body: {_kind(content.get('schema', {}))} (`{media}`)\n")
    lines += ["| answer | |", "|---|---|"]
    for status, answer in operation["responses"].items():
        kinds = {_kind(one.get("schema", {})) for one in answer.get("content", {}).values()}
        body = "" if int(status) >= HTTP_REFUSALS else ", ".join(sorted(kinds))
        lines.append(f"| {status} | {body or _sentence(answer.get('description'))} |")
    return "\n".join(lines) + "\n"


def _document(name: str, schema: dict[str, Any]) -> str:
    """Return the section of one document: its fields, or its values."""
    lines = [f"### {name}\n"]
    if schema.get("description"):
        lines.append(f"{_sentence(schema['description'])}\n")
    if "properties" not in schema:
        return "\n".join([*lines, f"{_kind(schema)}\n"])
    needed = schema.get("required", [])
    lines += ["| field | type | |", "|---|---|---|"]
    for field, kind in schema["properties"].items():
        remark = " ".join(
            part
            for part in (
                _sentence(kind.get("description")),
                "" if field in needed else "Optional.",
                f"Default: `{json.dumps(kind['default'])}`." if "default" in kind else "",
            )
            if part
        )
        lines.append(f"| `{field}` | {_kind(kind)} | {remark} |")
    return "\n".join(lines) + "\n"


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a value in words, with a link to its document."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return " or ".join(_kind(one) for one in schema[several])
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    kind = schema.get("type", "any")
    text = kind if isinstance(kind, str) else " or ".join(kind)
    bounds = ", ".join(f"{words} {schema[key]:g}" for key, words in BOUNDS.items() if key in schema)
    return " ".join(part for part in (text, schema.get("format", ""), bounds) if part)


def _sentence(text: str | None) -> str:
    """Return a text that fits into a cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


PAGES = {
    "http.md": http,
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
