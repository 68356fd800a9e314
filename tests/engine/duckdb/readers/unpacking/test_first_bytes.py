"""Content that is not read is named by its first bytes, with what to do instead."""

from collections.abc import Callable
from pathlib import Path

import pytest

Refusal = Callable[..., str]
UNREAD = {
    b"%PDF-1.7\n": ("a PDF", "export the data behind it as CSV"),
    b"Obj\x01\x04": ("an Avro file", "convert it to Parquet"),
    b"SEQ\x06": ("a Hadoop sequence file", "convert it to Parquet"),
    b"FEA1\0\0": ("a Feather file of version 1", "write it again as version 2"),
    b"\xff\xff\xff\xff\x10\0": ("an Arrow stream", "write it as an Arrow file or as Parquet"),
    b"7z\xbc\xaf\x27\x1c\0": ("a 7z archive", "unpack it"),
    b"Rar!\x1a\x07\0": ("a RAR archive", "unpack it"),
    b"\x04\x22\x4d\x18d": ("packed with lz4", "unpack it with `lz4 -d`"),
    b"\x89HDF\r\n\x1a\n": ("an HDF5 file", "export it as CSV (UTF-8) or Parquet"),
    b"$FL2@(#)": ("an SPSS file", "export it as CSV (UTF-8) or Parquet"),
    b"<stata_dta><header>": ("a Stata file", "export it as CSV (UTF-8) or Parquet"),
    b"\x93NUMPY\x01": ("a NumPy array", "export it as CSV (UTF-8) or Parquet"),
    b"\x80\x05\x95": ("a Python pickle", "write it as Parquet"),
    b"log.csv".ljust(257, b"\0") + b"ustar": ("a tar archive", "unpack it"),
}


@pytest.mark.parametrize("content", UNREAD, ids=[kind for kind, _ in UNREAD.values()])
def test_what_is_not_read_is_named(tmp_path: Path, refusal_of: Refusal, content: bytes) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(content)
    kind, advice = UNREAD[content]
    assert refusal_of(path) == f"{path}: it is {kind}, which is not read here; {advice}"


def test_what_nobody_knows_is_called_binary(tmp_path: Path, refusal_of: Refusal) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"\x01\x02\0\x7f" * 9)
    rule = "its content is binary and of no known kind; export it as CSV (UTF-8) or Parquet"
    assert refusal_of(path) == f"{path}: {rule}"
