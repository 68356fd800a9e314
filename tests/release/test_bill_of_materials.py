"""The bill of materials names every package that runs, and nothing else."""

import json
import re
from pathlib import Path

from bill_of_materials import bill_of_materials, npm_components, python_components

ROOT = Path(__file__).parents[2]
LOCK = """\
anyio==4.16.0 \\
    --hash=sha256:00
    # via httpx
hatchling==1.33.0 \\
    --hash=sha256:00
    # via blender-dp (pyproject.toml:build)
httpx==0.28.1 \\
    --hash=sha256:00
    # via
    #   blender-dp (pyproject.toml)
    #   litestar
pluggy==1.7.0 \\
    --hash=sha256:00
    # via hatchling
uvloop==0.23.0 ; sys_platform != 'win32' \\
    --hash=sha256:00
    # via blender-dp (pyproject.toml)
"""


def test_what_only_builds_the_package_is_left_out() -> None:
    found = {one.name: one.needed_by for one in python_components(LOCK)}
    assert found == {
        "anyio": ("httpx",),
        "httpx": ("blender-dp (pyproject.toml)", "litestar"),
        "uvloop": ("blender-dp (pyproject.toml)",),
    }


def test_npm_packages_that_only_test_are_left_out() -> None:
    lock = {
        "packages": {
            "": {},
            "client": {"version": "0.1.0"},
            "node_modules/@a/b": {"version": "1.0.0", "license": "MIT", "integrity": "sha512-AAE="},
            "node_modules/c": {"version": "2.0.0", "dev": True},
            "node_modules/@blender-dp/client": {"link": True},
        }
    }
    (found,) = npm_components(lock)
    assert found.document() == {
        "type": "library",
        "bom-ref": "pkg:npm/%40a/b@1.0.0",
        "name": "@a/b",
        "version": "1.0.0",
        "purl": "pkg:npm/%40a/b@1.0.0",
        "licenses": [{"expression": "MIT"}],
        "hashes": [{"alg": "SHA-512", "content": "0001"}],
    }


def test_the_bill_has_every_direct_dependency_and_a_whole_graph() -> None:
    text = bill_of_materials(ROOT, "0.1.0", 1_750_000_000)
    assert text == bill_of_materials(ROOT, "0.1.0", 1_750_000_000)
    bill = json.loads(text)
    assert bill["metadata"]["timestamp"] == "2025-06-15T15:06:40Z"
    names = {one["name"] for one in bill["components"]}
    assert {"duckdb", "numpy", "litestar", "preact", "@observablehq/plot"} <= names
    assert not names & {"hatchling", "pytest", "vitest"}
    refs = [one["bom-ref"] for one in bill["components"]]
    assert len(refs) == len({*refs})
    graph = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    reached, waiting = set[str](), ["pkg:pypi/blender-dp@0.1.0"]
    while waiting:
        reached.add(ref := waiting.pop())
        waiting += [one for one in graph.get(ref, []) if one not in reached]
    assert reached - {"pkg:pypi/blender-dp@0.1.0"} == {*refs}
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
