"""SQLite on a network file system is refused before there is anything to lose."""

import asyncio
import logging
from pathlib import Path

import pytest

from blender_dp.core.errors import InputError
from blender_dp.server.databases import local_disk
from blender_dp.server.databases.local_disk import require_local_disk
from blender_dp.service.storage.open_store import open_store

LINE = "36 27 0:33 / {} rw,relatime shared:1 - {} somewhere rw\n"


def mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *mounts: tuple[str | Path, str]
) -> None:
    """Let the system say that these are mounted, and nothing else."""
    lines = [LINE.format(str(place).replace(" ", "\\040"), kind) for place, kind in mounts]
    (tmp_path / "mounts").write_text("".join(lines), encoding="utf-8")
    monkeypatch.setattr(local_disk, "_MOUNTS", tmp_path / "mounts")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "fuse.sshfs"])
def test_a_network_file_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place = tmp_path.resolve() / "a share"
    place.mkdir()
    mounted(tmp_path, monkeypatch, ("/", "ext4"), (place, kind))
    with pytest.raises(InputError, match=f"is on a network file system \\({kind}\\)"):
        asyncio.run(open_store(str(place / "service.sqlite")))
    assert not list(place.iterdir())


def test_a_link_to_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path.resolve() / "share"
    place.mkdir()
    (tmp_path / "link").symlink_to(place)
    mounted(tmp_path, monkeypatch, ("/", "ext4"), (place, "nfs"))
    with pytest.raises(InputError, match="network file system"):
        require_local_disk(tmp_path / "link" / "service.sqlite")


def test_the_innermost_and_last_mount_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path.resolve()
    mounted(
        tmp_path,
        monkeypatch,
        *((place / "data", "nfs"), (place / "data", "xfs"), ("/", "nfs"), (f"{place}/d", "nfs")),
    )
    require_local_disk(place / "data" / "service.sqlite")
    with pytest.raises(InputError, match="network file system"):
        require_local_disk(place / "other" / "service.sqlite")


@pytest.mark.parametrize(("kind", "is_warned_of"), [("9p", True), ("fuse.x", True), ("xfs", False)])
def test_what_may_be_a_network_file_system_is_warned_of(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    is_warned_of: bool,
) -> None:
    mounted(tmp_path, monkeypatch, ("/", kind))
    with caplog.at_level(logging.WARNING):
        require_local_disk(tmp_path / "service.sqlite")
    assert [f"the database is on {kind}" in line for line in caplog.messages] == [
        True for _ in range(is_warned_of)
    ]


def test_a_system_that_does_not_say_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_disk, "_MOUNTS", tmp_path / "missing")
    require_local_disk(tmp_path / "service.sqlite")
