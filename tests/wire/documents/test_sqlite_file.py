"""A SQLite file is created for its owner alone, and never opened beside SQLite."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from blender_dp.wire.documents.sqlite_file import create_private_file

OTHER_WRITER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_missing_file_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    assert create_private_file(path)
    assert mode_of(path) == 0o600
    assert path.read_bytes() == b""


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"content")
    path.chmod(0o640)
    assert not create_private_file(path)
    assert path.read_bytes() == b"content"
    assert mode_of(path) == 0o640


def test_a_link_to_a_missing_file_is_followed(tmp_path: Path) -> None:
    """Otherwise SQLite would create the file itself, readable by others."""
    (tmp_path / "link").symlink_to(tmp_path / "a.sqlite")
    assert create_private_file(tmp_path / "link")
    assert mode_of(tmp_path / "a.sqlite") == 0o600


def test_a_file_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sqlite"
    create_private_file(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    with pytest.raises(PermissionError):
        create_private_file(path)


def test_a_lock_of_this_process_is_kept(tmp_path: Path) -> None:
    """To open and close the file would drop it, and another process could write too."""
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("BEGIN IMMEDIATE")
        create_private_file(path)
        other = [sys.executable, "-c", OTHER_WRITER, str(path)]
        refused = subprocess.run(other, capture_output=True, text=True, check=True, timeout=60)
    assert refused.stdout == "database is locked\n"
