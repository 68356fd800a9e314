"""Sources of the site: Markdown files of the repository, with links that lead into the site."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath

from source_code import SourceCode

SECTIONS = {
    "Start": ["docs/tutorials/*.md", "docs/pictures.md"],
    "Notebooks": ["docs/notebooks/*.ipynb"],
    "How to": ["docs/how-to/*.md"],
    "Explanation": ["docs/explanation/*.md", "docs/paper-map.md"],
    "Reference": ["docs/reference/*.md", "test_vectors/README.md"],
    "Proofs": ["src/**/PRIVACY.md"],
    "Measurements": ["benchmarks/*.md"],
    "Project": ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
}
"""What the navigation shows, section by section; README is the start page."""
ATTACHED = (".json", ".png", ".svg")
"""Kinds of files that pages link to or show as they are; all other files get a page with lines."""
PYTHON = "docs/reference/python.md"
"""The page of public names, each of which gets a link to its source."""
_PUBLIC = re.compile(r"^## `(\w+)`$")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_CODE = re.compile(r"(?<![`\[])`(?P<name>[\w./:-]+)`(?!`)")
_FENCE = re.compile(r"^\s*```")


def stage(root: Path, target: Path) -> None:
    """Copy all pages and what they show, and write the list of source files that they name."""
    tracked = _tracked(root)
    code = SourceCode(root, tracked)
    pages = pages_of(root)
    listed = ["README.md", *(page for section in pages.values() for page in section)]
    for page in listed:
        text = (root / page).read_text(encoding="utf-8")
        text = notebook_page(text) if page.endswith(".ipynb") else text
        staged = PageLinks(page, {*tracked} - {*listed}, code, target).rewritten(text)
        if page == "README.md":
            staged += _navigation(pages)
        path = target / staged_name(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(staged, encoding="utf-8")
    for name in tracked:
        if name.startswith("docs/pictures/"):
            _copy(root / name, target / name)
    code.write_pages(target / "source")


def pages_of(root: Path) -> dict[str, list[str]]:
    """Return the pages of every section, sorted by path."""
    return {
        section: [
            str(path.relative_to(root)) for one in patterns for path in sorted(root.glob(one))
        ]
        for section, patterns in SECTIONS.items()
    }


def staged_name(page: str) -> str:
    """Return the file of a page in the staged folder."""
    return "index.md" if page == "README.md" else str(Path(page).with_suffix(".md"))


def notebook_page(text: str) -> str:
    """Return a notebook as Markdown: its texts, and its code in blocks."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    parts = [words if kind == "markdown" else f"```python\n{words}\n```" for kind, words in cells]
    return "\n\n".join(parts) + "\n"


def _navigation(pages: dict[str, list[str]]) -> str:
    """Return the site's navigation, hidden below the start page."""
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {section}\n\n"
        + "".join(f"{_titled(page)}\n" for page in listed)
        + "```\n"
        for section, listed in pages.items()
    )


def _titled(page: str) -> str:
    """Return an entry of the navigation; proofs are named by their step."""
    name = staged_name(page).removesuffix(".md")
    if name.endswith("/PRIVACY"):
        return f"{PurePosixPath(page).parent.name.replace('_', ' ')} <{name}>"
    return name


class PageLinks:
    """Links of one page, rewritten for the site."""

    def __init__(self, page: str, files: set[str], code: SourceCode, target: Path) -> None:
        """Take the page's path, the files that are no pages, and the staged folder."""
        self._page = page
        self._folder = PurePosixPath(page).parent
        self._files = files
        self._code = code
        self._target = target

    def rewritten(self, text: str) -> str:
        """Return the text of a page; blocks of code stay as they are."""
        lines, is_code, before = [], False, ""
        for line in text.splitlines():
            if _FENCE.match(line):
                is_code = not is_code
            is_indented = line.startswith("    ") and (not before or before.startswith("    "))
            lines.append(line if is_code or is_indented else self._line(line))
            if self._page == PYTHON and (name := _PUBLIC.match(line)):
                place = self._code.public_place_of(name[1])
                lines += ["", self._to_source("source", *place)]
            before = line
        return "\n".join(lines) + "\n"

    def _line(self, line: str) -> str:
        return _CODE.sub(self._named, _LINK.sub(self._linked, line))

    def _linked(self, link: re.Match[str]) -> str:
        """Return a link to a page as it is, one to another file as a link to its lines."""
        if ":" in link["target"]:
            return link[0]
        path = os.path.normpath(self._folder / link["target"])
        if path == "README.md" or path.endswith(".ipynb"):
            name = PurePosixPath(link["target"]).name
            return link[0].replace(name, PurePosixPath(staged_name(path)).name)
        if path.endswith(ATTACHED):
            _copy(self._code.root / path, self._target / path)
            return link[0]
        if path not in self._files:
            return link[0]
        return self._to_source(link["text"], path, 0)

    def _named(self, code: re.Match[str]) -> str:
        """Return the name of a file, a test or a Python object as a link to its line."""
        place = self._code.place_of(code["name"])
        return self._to_source(code[0], *place) if place else code[0]

    def _to_source(self, text: str, path: str, line: int) -> str:
        page = self._code.page_of(path)
        address = os.path.relpath(page, self._folder)
        anchor = f"#line-{line}" if line else ""
        return f'<a class="source" href="{address}{anchor}">{text}</a>'


def _tracked(root: Path) -> list[str]:
    """Return the files of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - from the path
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (root / name).is_file()]


def _copy(path: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, copy)
