"""Log files: their paths, their compression and their unpacked bytes."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.engine.duckdb.readers.unpacking.addresses import is_address, require_unchanged

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab")
PARQUET_SUFFIX = ".parquet"
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_IN_FOLDERS = (PARQUET_SUFFIX, ".arrow", ".feather", ".orc")
_IN_FOLDERS_PACKED = (*TEXT_SUFFIXES, ".jsonl", ".ndjson")
STANDARD_INPUT = Path("/dev/stdin")
_TABLE = "::"
"""Between the file of a database and the table in it."""
CHUNK_BYTES = 1 << 20
LONGEST_LINE_BYTES = 2_000_000
"""Longest line that DuckDB reads; every reader sets this limit."""

_NO_LOGS = (
    f"the folder holds no log: {', '.join(_IN_FOLDERS)}, or {', '.join(_IN_FOLDERS_PACKED)}, "
    "alone or with .gz, .zst, .bz2 or .xz"
)
_CUT_OFF = "the compressed data ends early; the file may be cut off"
_DAMAGED = "the compressed data is damaged"


class Compression(Enum):
    """Kind of compression: its name, as in DuckDB, the suffix, the first bytes."""

    NONE = ("none", "", b"")
    GZIP = ("gzip", ".gz", b"\x1f\x8b")
    ZSTD = ("zstd", ".zst", b"\x28\xb5\x2f\xfd")
    BZIP2 = ("bzip2", ".bz2", b"BZh")
    XZ = ("xz", ".xz", b"\xfd7zXZ\x00")
    ZIP = ("zip", ".zip", b"PK\x03\x04")

    def __init__(self, sql_name: str, suffix: str, magic: bytes) -> None:
        self.sql_name = sql_name
        self.suffix = suffix
        self.magic = magic


PACKED = tuple(packing for packing in Compression if packing is not Compression.NONE)


def find_log_files(paths: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Return the log files that files, folders and glob patterns name, each once.

    Files come in the order given, those of a folder or a pattern sorted by path. ``-`` is standard
    input, and ``FILE::TABLE`` a table of a database; addresses stay as they are. In a folder, names
    that start with ``.`` or ``_`` or contain ``readme`` are skipped: Spark and AOL put such files
    beside their logs.

    Raises:
        InputError: One of the paths names no file, or an address that cannot be kept as it is.
        ParameterError: There are no paths.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise ParameterError("paths", "at least one file or folder", given)
    found: dict[Path, Path] = {}
    for path in given:
        require_unchanged(path)
        for file in _files_of(Path(path)):
            found.setdefault(file if is_elsewhere(file) else file.resolve(), file)
    return tuple(found.values())


def stored_file(path: Path) -> Path:
    """Return the file of a table, or the path itself if it names no table."""
    file, separator, _ = str(path).rpartition(_TABLE)
    return Path(file) if separator and not path.exists() else path


def table_of(path: Path) -> str | None:
    """Return the name of the table in ``FILE::TABLE``; None for a file."""
    return None if stored_file(path) == path else str(path).rpartition(_TABLE)[2]


def is_elsewhere(path: Path) -> bool:
    """Tell whether a path names no file of this machine: standard input, or an address."""
    return path == STANDARD_INPUT or is_address(path)


def stored_size(path: Path) -> int:
    """Return the bytes of a file as it is stored; 0 for one that is elsewhere."""
    if is_elsewhere(path):
        return 0
    with naming(path):
        return stored_file(path).stat().st_size


def _files_of(path: Path) -> list[Path]:
    if path in (STANDARD_INPUT, Path("-")):
        return [STANDARD_INPUT]
    if is_address(path):
        return [path]
    if table_of(path) and stored_file(path).is_file():
        return [path]
    with naming(path):
        if path.is_dir():
            return _files_in(path)
        if path.is_file():
            return [path]
        if path.exists():
            raise InputError(path, "it must be a regular file, because it is read more than once")
    if not any(c in "*?[" for c in str(path)):
        raise InputError(path, "there is no such file or folder")
    matches = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not matches:
        raise InputError(path, "no file matches this pattern")
    return [file for match in matches for file in _files_of(match)]


def _files_in(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if is_log_name(path.relative_to(folder)))
    files = [path for path in files if path.is_file()]
    if not files:
        raise InputError(folder, _NO_LOGS)
    return files


def is_log_name(path: Path) -> bool:
    """Tell whether a file in a folder or an archive is part of the log, by its name."""
    if any(part.startswith((".", "_")) for part in path.parts) or "readme" in path.name.lower():
        return False
    return path.suffix in _IN_FOLDERS or log_suffix(path) in _IN_FOLDERS_PACKED


def log_suffix(path: Path) -> str:
    """Return the suffix of the format, without the suffix of a compression."""
    is_packed = path.suffix.lower() in {packing.suffix for packing in PACKED}
    return (path.with_suffix("") if is_packed else path).suffix.lower()


def compression_of(path: Path) -> Compression:
    """Return the compression of a file, by its first bytes.

    Raises:
        InputError: The name has the suffix of a compression, but the file is not compressed.
    """
    with naming(path), stored_file(path).open("rb") as file:
        start = file.read(6)
    for packing in PACKED:
        if start.startswith(packing.magic):
            return packing
    for packing in PACKED:
        if path.suffix.lower() == packing.suffix and start:
            rule = f"the name ends in {packing.suffix}, but the content is not {packing.sql_name}"
            raise InputError(path, rule)
    return Compression.NONE


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn an error of reading a file into one sentence that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(path, "there is no such file or folder") from None
    except PermissionError:
        raise InputError(path, "permission to read it is denied") from None
    except EOFError:
        raise InputError(path, _CUT_OFF) from None
    except (zlib.error, lzma.LZMAError):
        raise InputError(path, _DAMAGED) from None
    except OSError as error:
        # gzip and pyarrow raise an OSError without a number if the content is damaged.
        if error.errno is not None:
            raise InputError(path, f"it cannot be read: {error.strerror}") from None
        is_cut_off = str(error).startswith("Truncated")
        raise InputError(path, _CUT_OFF if is_cut_off else _DAMAGED) from None


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading its unpacked bytes."""
    match compression_of(path):
        case Compression.GZIP:
            return cast("BinaryIO", gzip.open(path))
        case Compression.ZSTD:
            # Imported here: it loads slowly, and only zstd files need it.
            from pyarrow import input_stream  # noqa: PLC0415

            return cast("BinaryIO", input_stream(path, compression="zstd"))
        case Compression.BZIP2:
            return cast("BinaryIO", bz2.open(path))
        case Compression.XZ:
            return cast("BinaryIO", lzma.open(path))
        case _:
            return path.open("rb")


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file, about a megabyte at a time."""
    with naming(path), open_bytes(path) as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def text_lines(path: Path, *, keep_line_ends: bool = False) -> Iterator[str]:
    r"""Yield the lines of a file, ended by ``\n``, ``\r\n`` or ``\r``, as DuckDB sees them.

    Bytes that are not UTF-8 come as lone surrogates, a byte order mark is left out, and a line
    that is too long comes in pieces.
    """
    newline = "" if keep_line_ends else None
    with (
        naming(path),
        open_bytes(path) as file,
        io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline=newline) as text,
    ):
        while line := text.readline(LONGEST_LINE_BYTES + 1):
            yield line


def check_packing(files: Iterable[Path]) -> None:
    """Unpack every compressed file once, to the end.

    DuckDB accepts a truncated zstd file as complete and does not check gzip's checksum, so rows
    would be lost silently.

    Raises:
        InputError: A file is cut off or damaged.
    """
    packed = [path for path in files if compression_of(path) is not Compression.NONE]
    with ThreadPoolExecutor() as threads:
        for _ in threads.map(_unpack, packed):
            pass


def _unpack(path: Path) -> None:
    for _ in chunks(path):
        pass
