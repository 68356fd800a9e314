"""The rules of CONTRIBUTING.md that a machine can hold."""

import ast
import importlib
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

import blender_dp

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "blender_dp"
MODULES = sorted(SOURCE.rglob("*.py"))
FEWEST_TESTS = 2710
"""Fewer test functions than this, and some were lost on the way. There are about 2,740."""


def tracked_files() -> list[Path]:
    """Return what is or will be committed; without git, everything that is not ignored by name."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        skip = (".venv", ".venv-peers", ".make", "__pycache__", "demo", ".git", "node_modules")
        return [p for p in ROOT.rglob("*") if p.is_file() and not set(p.parts) & set(skip)]
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_public_names_are_there_and_sorted() -> None:
    assert blender_dp.__all__ == sorted(blender_dp.__all__)
    for name in blender_dp.__all__:
        assert getattr(blender_dp, name).__doc__, name
    assert set(blender_dp.__all__) <= set(dir(blender_dp))
    with pytest.raises(AttributeError, match="'frobnicate'"):
        blender_dp.frobnicate  # type: ignore[attr-defined]  # noqa: B018


def test_a_type_checker_sees_the_public_names_where_they_are_at_run_time() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.asname: getattr(importlib.import_module(str(node.module)), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("blender_dp")
        for alias in node.names
    }
    assert seen == {name: getattr(blender_dp, name) for name in blender_dp.__all__}


Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(function: Function) -> int:
    """Return the length of a function without its docstring."""
    described = ast.get_docstring(function)
    lines = (function.end_lineno or 0) - function.lineno + 1
    return lines - (described.count("\n") + 1 if described else 0)


def test_no_file_is_too_long_and_no_function_does_too_much() -> None:
    faults = []
    for module in MODULES:
        text, where = module.read_text(encoding="utf-8"), module.relative_to(SOURCE)
        if (lines := text.count("\n")) > 300:
            faults.append(f"{where} has {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function) and lines_of(node) > 60:
                faults.append(f"{where}: {node.name} has {lines_of(node)} lines")
    assert faults == []


def source_folders() -> list[Path]:
    files = [path for path in tracked_files() if path.is_relative_to(SOURCE)]
    found = {parent for path in files for parent in path.parents if parent.is_relative_to(SOURCE)}
    return sorted(found)


def test_the_architecture_page_maps_every_folder() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in source_folders():
        if folder != SOURCE and "assets" not in folder.relative_to(SOURCE).parts[:-1]:
            assert f"{folder.name}/`" in page, f"{folder.relative_to(ROOT)} is not on the map"


def test_no_folder_is_too_full_to_be_read_at_a_glance() -> None:
    everything = {path for path in tracked_files() if path.is_relative_to(SOURCE)}
    for folder in source_folders():
        if folder != SOURCE / "cli":
            entries = {
                path.relative_to(folder).parts[0]
                for path in everything
                if path.is_relative_to(folder) and path.name != "py.typed"
            }
            most = 17 if folder == SOURCE else 16  # the layers, all on the architecture page
            assert len(entries) <= most, f"{folder.relative_to(ROOT)} has {len(entries)} entries"


def test_the_architecture_page_names_only_what_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    names = {path.name for path in tracked_files()}
    for named in re.findall(r"`(?:\w+/)*(\w+\.(?:py|md))`", page):
        assert named in names, named
    for folder in re.findall(r"`([\w/]+)/`", page):
        assert any(
            (base / folder).is_dir() for base in [ROOT, ROOT / "tests", *SOURCE.glob("**/")]
        ), folder


def test_nothing_names_a_machine_or_a_registry() -> None:
    machine = re.compile(r"/(?:work|root|home)/\w|(?:index|extra-index|registry)[-_]?url", re.I)
    address = re.compile(r"https?://")
    for path in tracked_files():
        if path.suffix in (".png", ".svg") or path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8")
        found = machine.search(text.replace("--no-emit-index-url", ""))
        assert not found, f"{path.relative_to(ROOT)}: {found and found[0]}"
        if path.parent.name == "requirements":
            assert not address.search(text), path


def test_no_file_is_named_for_no_subject() -> None:
    nameless = {"utils", "util", "helpers", "helper", "common", "misc", "base", "stuff"}
    assert not [p for p in tracked_files() if {p.stem, *p.relative_to(ROOT).parts} & nameless]


GENERATORS = re.compile(r"\b(?:np|numpy)\.random|^import random|^from random|\bsecrets\b", re.M)
SEEDED_ON_PURPOSE = ("evaluation", "engine/synthetic")


def test_noise_comes_only_from_the_source_that_is_passed_in() -> None:
    for module in MODULES:
        where = str(module.relative_to(SOURCE))
        if not where.startswith(SEEDED_ON_PURPOSE):
            assert not GENERATORS.search(module.read_text(encoding="utf-8")), where


def test_every_step_has_its_privacy_argument() -> None:
    steps = [path for path in (SOURCE / "core").iterdir() if (path / "paper.py").is_file()]
    assert len(steps) == 5
    for step in steps:
        assert "Claim" in (step / "PRIVACY.md").read_text(encoding="utf-8"), step.name


def test_links_in_the_docs_lead_somewhere() -> None:
    for page in [p for p in tracked_files() if p.suffix == ".md"]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http", "mailto")):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def headings_of(page: Path) -> list[tuple[int, str]]:
    """Return level and text of every heading of a page, blocks of code left out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [(len(marks), words) for marks, words in re.findall(r"^(#+) (.+)$", text, re.M)]


def anchors_of(page: Path) -> set[str]:
    """Return what a forge and the site call the headings of a page in addresses."""
    plain = [re.sub(r"[^\w\- ]", "", words.lower()) for _, words in headings_of(page)]
    return {words.replace(" ", "-") for words in plain}


def test_anchors_in_the_docs_are_headings() -> None:
    pages = [p for p in tracked_files() if p.suffix == ".md"]
    anchors = {page: anchors_of(page) for page in pages}
    for page in pages:
        links = re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
        for target, anchor in links:
            found = (page.parent / target).resolve() if target else page
            assert anchor in anchors[found], f"{page.relative_to(ROOT)}: {target}#{anchor}"


def test_headings_in_the_docs_leave_no_level_out() -> None:
    for page in [p for p in tracked_files() if p.suffix == ".md"]:
        levels = [level for level, _ in headings_of(page)]
        leaps = [here for before, here in pairwise([0, *levels]) if here > before + 1]
        assert leaps == [], page.relative_to(ROOT)


def test_no_tests_were_lost() -> None:
    tests = sum(
        len(re.findall(r"^(?:async )?def test_", path.read_text(encoding="utf-8"), re.M))
        for path in (ROOT / "tests").rglob("test_*.py")
    )
    assert tests >= FEWEST_TESTS
