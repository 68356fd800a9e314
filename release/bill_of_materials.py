"""Bill of materials (CycloneDX 1.6) of a release, from the lock files alone."""

import base64
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

PROJECT = "blender-dp"
_PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[\w.!+-]+)")
_BUILD_ONLY = f"{PROJECT} (pyproject.toml:build)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A package that the release brings along or installs."""

    purl: str
    name: str
    version: str
    needed_by: tuple[str, ...] = ()
    licence: str | None = None
    sha512: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the component as CycloneDX writes it."""
        licences = {"licenses": [{"expression": self.licence}]} if self.licence else {}
        hashes = {"hashes": [{"alg": "SHA-512", "content": self.sha512}]} if self.sha512 else {}
        return {
            "type": "library",
            "bom-ref": self.purl,
            "name": self.name,
            "version": self.version,
            "purl": self.purl,
            **licences,
            **hashes,
        }


def python_components(lock: str) -> list[Component]:
    """Return the packages of a lock file that run, without those that only build.

    A package of which there are several versions, for several Pythons, is listed once per version.
    """
    found: list[Component] = []
    for block in re.split(r"\n(?=\S)", lock):
        if pinned := _PINNED.match(block):
            via = [line.strip("# ") for line in block.splitlines() if line.startswith("    #")]
            needed_by = [name.removeprefix("via ") for name in via if name not in ("", "via")]
            name, version = pinned["name"], pinned["version"]
            purl = f"pkg:pypi/{name}@{version}"
            found.append(
                Component(purl=purl, name=name, version=version, needed_by=tuple(needed_by))
            )
    return _running(found)


def _running(components: list[Component]) -> list[Component]:
    """Leave out what only the build of the package needs."""
    kept: set[str] = set()
    while True:
        more = {
            one.name
            for one in components
            if any(
                parent in kept or (parent.startswith(PROJECT) and parent != _BUILD_ONLY)
                for parent in one.needed_by
            )
        }
        if more == kept:
            return [one for one in components if one.name in kept]
        kept = more


def npm_components(lock: dict[str, Any]) -> list[Component]:
    """Return the npm packages that are built into the dashboard and the extension."""
    found = []
    for path, package in lock["packages"].items():
        if "node_modules/" not in path or package.get("link") or package.get("dev"):
            continue
        name = path.rpartition("node_modules/")[2]
        algorithm, _, digest = package.get("integrity", "").partition("-")
        found.append(
            Component(
                purl=f"pkg:npm/{name.replace('@', '%40')}@{package['version']}",
                name=name,
                version=package["version"],
                licence=package.get("license"),
                sha512=base64.b64decode(digest).hex() if algorithm == "sha512" else None,
            )
        )
    return found


def bill_of_materials(root: Path, version: str, moment: int) -> str:
    """Return the bill of a release as JSON; the same sources give the same bytes."""
    python = python_components((root / "requirements" / "run.txt").read_text(encoding="utf-8"))
    npm = npm_components(json.loads((root / "web" / "package-lock.json").read_bytes()))
    project = f"pkg:pypi/{PROJECT}@{version}"
    components = [one.document() for one in sorted([*python, *npm], key=lambda one: one.purl)]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid5(NAMESPACE_URL, json.dumps([project, components])).urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": project,
                "name": PROJECT,
                "version": version,
                "purl": project,
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": components,
        "dependencies": _graph(project, python, npm),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _graph(project: str, python: list[Component], npm: list[Component]) -> list[dict[str, Any]]:
    """Return which component needs which; the npm packages are part of the project's own files."""
    direct = [one.purl for one in python if any(by.startswith(PROJECT) for by in one.needed_by)]
    edges = {project: sorted([*direct, *(one.purl for one in npm)])}
    for parent in python:
        needed = [one.purl for one in python if parent.name in one.needed_by]
        edges[parent.purl] = sorted(needed)
    return [{"ref": ref, "dependsOn": needed} for ref, needed in sorted(edges.items())]
