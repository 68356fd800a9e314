"""Unpacked copies: nothing of them has a name, and messages name the file that was given."""

import bz2
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogSource, StandIns, open_log

Refusal = Callable[..., str]
Scan = Callable[[LogSource], None]
PLANTED = "xyzzy"
CSV = f"user,query,url\n{PLANTED},{PLANTED},{PLANTED}\n"
CUT_OFF = "the compressed data ends early; the file may be cut off"


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


def test_unpacked_bytes_have_no_name_and_end_with_the_log(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, scan: Scan
) -> None:
    path = tmp_path / "log.csv.xz"
    path.write_bytes(lzma.compress(CSV.encode()))
    work = tmp_path / "work"
    work.mkdir()
    stand_ins = StandIns(work)
    source = open_log(connection, path, stand_ins=stand_ins)
    scan(source)
    names = [name for name in work.rglob("*") if not name.is_dir()]
    assert len(names) == 1
    assert names[0].is_symlink()
    assert str(names[0].readlink()).startswith("/proc/self/fd/")
    stand_ins.close()
    assert list(work.iterdir()) == []


def test_a_flaw_inside_is_told_of_the_file_that_was_given(
    tmp_path: Path, refusal_of: Refusal
) -> None:
    path = tmp_path / "log.csv.bz2"
    path.write_bytes(bz2.compress(CSV.encode() + b"a,b\n"))
    assert refusal_of(path) == f"{path}, line 3: the row has the wrong number of columns"
    archive = zipped(tmp_path / "log.zip", log_csv=CSV, more_csv=CSV + "a,b\n")
    rule = "line 3: the row has the wrong number of columns"
    assert refusal_of(archive) == f"{archive} (more.csv), {rule}"


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("cut.csv.xz", lzma.compress(CSV.encode())[:-8], CUT_OFF),
        ("cut.csv.bz2", bz2.compress(CSV.encode())[:-8], CUT_OFF),
        ("text.csv.xz", CSV.encode(), "the name ends in .xz, but the content is not xz"),
        ("cut.zip", b"PK\x03\x04 and no more", "the archive is cut off or damaged"),
    ],
)
def test_what_is_packed_must_be_whole(
    tmp_path: Path, refusal_of: Refusal, name: str, content: bytes, rule: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal_of(path) == f"{path}: {rule}"


def test_an_archive_without_a_log_is_refused(tmp_path: Path, refusal_of: Refusal) -> None:
    path = zipped(tmp_path / "a.zip", README_txt="text", picture_png="")
    assert refusal_of(path) == f"{path}: the archive holds no log"
    book = zipped(tmp_path / "book.csv", xl__workbook_xml="")
    rule = "it is an Excel workbook, which is not read here; save it as CSV (UTF-8)"
    assert refusal_of(book) == f"{book}: {rule}"


def test_a_system_without_open_files_by_name_says_so(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "blender_dp.engine.duckdb.readers.unpacking.stand_ins._DESCRIPTORS"
    monkeypatch.setattr(where, tmp_path / "none")
    path = tmp_path / "log.csv.xz"
    path.write_bytes(lzma.compress(CSV.encode()))
    with pytest.raises(InputError, match="it must be unpacked first"):
        open_log(connection, path)
