"""A release is the same bytes wherever and whenever it is built, and says what is in it."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

import make_dist
import pytest
from documented_pages import fresh_clone
from make_dist import write_checksums, zip_folder

MOMENT = 1_750_000_000


def build(clone: Path, **settings: str) -> dict[str, str]:
    """Run ``make dist`` and return the digest of every file."""
    command = ["make", "dist"]
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    made = subprocess.run(
        command,
        cwd=clone,
        env={**outer, "SOURCE_DATE_EPOCH": str(MOMENT), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (clone / "dist").iterdir()
    }


@pytest.mark.slow
@pytest.mark.built
def test_two_builds_in_two_places_are_equal_byte_for_byte(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "another folder"
    once = build(fresh_clone(first), TZ="UTC")
    again = build(fresh_clone(second), TZ="Asia/Tokyo", LANG="C")
    assert once == again
    assert {Path(name).suffix for name in once} == {".whl", ".gz", ".tgz", ".zip", ".json", ""}
    dist = first / "clone" / "dist"
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=dist, check=True)
    (sources,) = dist.glob("*.tar.gz")
    with tarfile.open(sources) as archive:
        names = archive.getnames()
    assert any(name.endswith("service/dashboard/index.html") for name in names)


def test_a_zip_has_one_time_and_one_order(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "y.txt").write_text("y")
    (folder / "a.txt").write_text("x")
    zip_folder(folder, tmp_path / "one.zip", MOMENT)
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "a.txt").chmod(0o755)
    os.utime(copy / "a.txt", (0, 0))
    zip_folder(copy, tmp_path / "two.zip", MOMENT)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert ZipFile(tmp_path / "one.zip").namelist() == ["a.txt", "b/y.txt"]
    zip_folder(folder, tmp_path / "old.zip", 0)  # before the first time of a zip


def test_checksums_notice_a_changed_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    write_checksums(tmp_path)
    check = ["sha256sum", "--check", "--status", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "a").write_text("b")
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 1


def test_packages_of_another_version_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("client", "dashboard", "extension"):
        (tmp_path / "web" / name).mkdir(parents=True)
        package = {"version": "0.2.0" if name == "dashboard" else "0.1.0"}
        (tmp_path / "web" / name / "package.json").write_text(json.dumps(package))
    monkeypatch.setattr(make_dist, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="version must be 0"):
        make_dist.require_one_version("0.1.0")
    (tmp_path / "web" / "dashboard" / "package.json").write_text('{"version": "0.1.0"}')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.1\n")
    with pytest.raises(SystemExit, match="must have a section"):
        make_dist.require_one_version("0.1.0")


def test_all_packages_have_the_version_of_the_changelog() -> None:
    make_dist.require_one_version("0.1.0")
