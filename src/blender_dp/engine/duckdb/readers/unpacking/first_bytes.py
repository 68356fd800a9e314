"""First bytes of a file: which encoding and which kind of content they show."""

import codecs
from pathlib import Path
from typing import NamedTuple

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.files import naming, open_bytes, stored_file

_HEAD_BYTES = 4096
PARQUET = b"PAR1"
ARROW = b"ARROW1"
ORC = b"ORC"
SQLITE = b"SQLite format 3\0"
DUCKDB = b"DUCK"
_DUCKDB_OFFSET = 8
_AS_TEXT = "export it as CSV (UTF-8) or Parquet"

_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings by their byte order marks; the longer marks come first."""


class _Kind(NamedTuple):
    """Content that is not read here: its name, and what to do instead."""

    mark: bytes
    name: str
    advice: str


_UNREAD = (
    _Kind(b"PK\x03\x04", "a zip archive inside another archive", "unpack the outer one"),
    _Kind(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook", "save it as CSV (UTF-8)"),
    _Kind(b"%PDF-", "a PDF", "export the data behind it as CSV"),
    _Kind(b"Obj\x01", "an Avro file", "convert it to Parquet"),
    _Kind(b"FEA1", "a Feather file of version 1", "write it again as version 2"),
    _Kind(b"\xff\xff\xff\xff", "an Arrow stream", "write it as an Arrow file or as Parquet"),
    _Kind(b"\x89HDF\r\n\x1a\n", "an HDF5 file", _AS_TEXT),
    _Kind(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
    _Kind(b"Rar!\x1a\x07", "a RAR archive", "unpack it"),
    _Kind(b"\x04\x22\x4d\x18", "packed with lz4", "unpack it with `lz4 -d`"),
    _Kind(b"\xff\x06\x00\x00sNaPpY", "packed with Snappy", "unpack it"),
    _Kind(b"\x93NUMPY", "a NumPy array", _AS_TEXT),
    _Kind(b"$FL2", "an SPSS file", _AS_TEXT),
    _Kind(b"<stata_dta>", "a Stata file", _AS_TEXT),
    _Kind(b"SEQ\x06", "a Hadoop sequence file", "convert it to Parquet"),
    *(
        _Kind(b"\x80" + bytes([version]), "a Python pickle", "write it as Parquet")
        for version in range(2, 6)
    ),
)
_TAR_OFFSET, _TAR = 257, b"ustar"


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked."""
    with naming(path), open_bytes(stored_file(path)) as file:
        return file.read(_HEAD_BYTES)


def is_columnar(head: bytes) -> bool:
    """Tell whether content is one of the binary formats that are read here."""
    return head.startswith((PARQUET, ARROW, ORC, SQLITE)) or is_duckdb(head)


def is_duckdb(head: bytes) -> bool:
    """Tell whether content is a DuckDB database: its mark follows a checksum."""
    return head[_DUCKDB_OFFSET : _DUCKDB_OFFSET + len(DUCKDB)] == DUCKDB


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of a text with two or four bytes per character; None for another one.

    Without a byte order mark, the zeros beside Latin letters show the order.

    >>> wide_encoding("user,query".encode("utf-16")), wide_encoding("user".encode("utf-16-be"))
    ('utf-16', 'utf-16-be')
    """
    for mark, encoding in _ENCODINGS.items():
        if head.startswith(mark):
            return encoding
    start = head[:64]
    first, second = start[::2], start[1::2]
    if second and not any(second) and all(first):
        return "utf-16-le"
    return "utf-16-be" if second and not any(first) and all(second) else None


def refuse_unread(path: Path, head: bytes) -> None:
    """Raise if content is of a kind that is not read here.

    Raises:
        InputError: With the kind, and what to do instead.
    """
    for kind in _UNREAD:
        if head.startswith(kind.mark):
            raise InputError(path, f"it is {kind.name}, which is not read here; {kind.advice}")
    if head[_TAR_OFFSET:].startswith(_TAR):
        raise InputError(path, "it is a tar archive, which is not read here; unpack it")
    if b"\0" in head.split(b"\n", 1)[0]:  # further down it may be part of a value
        raise InputError(path, f"its content is binary and of no known kind; {_AS_TEXT}")
