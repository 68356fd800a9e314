"""Builds a release into ``dist/``: ``make dist``. The same commit gives the same bytes.

Wheel, source archive, npm package, both extensions, bill of materials and checksums. Nothing is
uploaded: publishing is a person's decision.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from bill_of_materials import bill_of_materials

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
FIRST_MOMENT_OF_ZIP = 315_532_800
"""1 January 1980: the earliest time that a zip file can hold."""


def main() -> None:
    """Write all files of the release, then their checksums."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version, moment = project["version"], moment_of_commit()
    require_one_version(version)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    os.environ["SOURCE_DATE_EPOCH"] = str(moment)
    _run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(DIST)]
    )
    _run(["npm", "pack", "--silent", "--pack-destination", str(DIST)], ROOT / "web" / "client")
    for browser in ("chromium", "firefox"):
        archive = DIST / f"blender-dp-extension-{version}-{browser}.zip"
        zip_folder(ROOT / "web" / "extension" / "dist" / browser, archive, moment)
    bill = bill_of_materials(ROOT, version, moment)
    (DIST / f"blender-dp-{version}.cdx.json").write_text(bill, encoding="utf-8")
    write_checksums(DIST)


def moment_of_commit() -> int:
    """Return the time of all files: that of ``SOURCE_DATE_EPOCH``, or of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    return int(found.stdout or FIRST_MOMENT_OF_ZIP)


def require_one_version(version: str) -> None:
    """Refuse a release whose packages do not all have the same version, or no entry in the log."""
    for name in ("client", "dashboard", "extension"):
        found = json.loads((ROOT / "web" / name / "package.json").read_bytes())["version"]
        if found != version:
            raise SystemExit(f"web/{name}/package.json: version must be {version}; got {found}")
    if f"\n## {version}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise SystemExit(f"CHANGELOG.md: must have a section {version}")


def zip_folder(folder: Path, archive: Path, moment: int) -> None:
    """Write all files of a folder in the order of their names, with one time and one mode."""
    time = _fields_of(max(moment, FIRST_MOMENT_OF_ZIP))
    with ZipFile(archive, "w") as zipped:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            entry = ZipInfo(path.relative_to(folder).as_posix(), time)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # modes are those of Unix, wherever it is built
            zipped.writestr(entry, path.read_bytes(), ZIP_DEFLATED, 9)


def _fields_of(moment: int) -> tuple[int, int, int, int, int, int]:
    """Return a moment in the fields of a zip file, in UTC."""
    at = datetime.fromtimestamp(moment, UTC)
    return at.year, at.month, at.day, at.hour, at.minute, at.second


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS, which ``sha256sum --check`` reads."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii")
    sys.stdout.write("".join(lines))


def _run(command: list[str], folder: Path = ROOT) -> None:
    if subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False).returncode:  # noqa: S603
        raise SystemExit(f"{command[0]} failed")


if __name__ == "__main__":
    main()
