"""Stand-ins for log files that must be unpacked or fetched: bz2, xz, zip, UTF-16, input, addresses.

A stand-in holds the unpacked bytes. It is a file without a name, so that nothing is left of it when
the process ends in any way, and a link with the name of the log leads to it while the log is open.
"""

import io
import shutil
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.files import (
    CHUNK_BYTES,
    STANDARD_INPUT,
    Compression,
    compression_of,
    is_log_name,
    naming,
    open_bytes,
)
from blender_dp.engine.duckdb.readers.unpacking.addresses import (
    fetch,
    files_at,
    is_address,
    shown_address,
)
from blender_dp.engine.duckdb.readers.unpacking.first_bytes import (
    head_of,
    is_columnar,
    wide_encoding,
)

_DESCRIPTORS = Path("/proc/self/fd")
"""Where Linux shows the open files of a process."""
_READ_BY_DUCKDB = (Compression.NONE, Compression.GZIP, Compression.ZSTD)
_standard_input: list[BinaryIO] = []
"""What was read from standard input, which can be read only once."""


class StandIns:
    """Stand-ins of one log, which end with this object at the latest."""

    def __init__(self, directory: Path | None = None) -> None:
        """Keep stand-ins on the disk of ``directory``; None for the system's temporary one."""
        self._directory = directory
        self._stack = ExitStack()
        self._labels: dict[str, str] = {}
        self.close = weakref.finalize(self, self._stack.close)

    def of(self, files: Iterable[Path]) -> tuple[Path, ...]:
        """Return what to read in place of each file: itself, or one or more stand-ins.

        Raises:
            InputError: A file is damaged, or an archive holds no log.
        """
        return tuple(part for path in files for part in self._parts_of(path))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the file that was given, not its stand-in, in an error."""
        try:
            yield
        except InputError as error:
            text = str(error)
            for stand_in, label in self._labels.items():
                text = text.replace(stand_in, label)
            error.args = (text,)
            raise

    def _parts_of(self, path: Path) -> Iterator[Path]:
        if path == STANDARD_INPUT:
            yield from self._parts_of(self._linked(self._input(), "standard input", "log"))
            return
        if is_address(path):
            for address in files_at(path):
                yield from self._parts_of(self._fetched(address))
            return
        packing = compression_of(path)
        if packing is Compression.ZIP:
            yield from self._members(path)
            return
        head = head_of(path)
        encoding = None if is_columnar(head) else wide_encoding(head)
        is_packed = packing is not Compression.NONE
        if (
            packing in _READ_BY_DUCKDB
            and encoding is None
            and not (is_packed and is_columnar(head))
        ):
            yield path
            return
        name = path.name.removesuffix(path.suffix) if is_packed else path.name
        with naming(path), open_bytes(path) as packed:
            yield self._unpacked(path, packed, name or "log", encoding)

    def _fetched(self, address: str) -> Path:
        file, label = self._new_file(), shown_address(address)
        fetch(address, file)
        return self._linked(file, label, label.rpartition("/")[2] or "log")

    def _members(self, path: Path) -> Iterator[Path]:
        with _unzipping(path), zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if not name.endswith("/"))
            _refuse_document(path, names)
            chosen = [name for name in names if is_log_name(Path(name))]
            if not chosen:
                raise InputError(path, "the archive holds no log")
            for name in chosen:
                with archive.open(name) as member:
                    label = f"{self._label(path)} ({name})"
                    stand_in = self._unpacked(label, member, Path(name).name, None)
                yield from self._parts_of(stand_in)

    def _unpacked(
        self,
        label: Path | str,
        packed: IO[bytes],
        name: str,
        encoding: str | None,
    ) -> Path:
        file = self._new_file()
        if encoding is None:
            shutil.copyfileobj(packed, file, CHUNK_BYTES)
        else:
            _recode(label, packed, file, encoding)
        file.flush()
        return self._linked(file, self._label(label), name)

    def _label(self, path: Path | str) -> str:
        return self._labels.get(str(path), str(path))

    def _input(self) -> BinaryIO:
        if not _standard_input:
            _standard_input.append(_file_without_name(self._directory))
            shutil.copyfileobj(sys.stdin.buffer, _standard_input[0], CHUNK_BYTES)
            _standard_input[0].flush()
        return _standard_input[0]

    def _new_file(self) -> BinaryIO:
        return self._stack.enter_context(_file_without_name(self._directory))

    def _linked(self, file: BinaryIO, label: str, name: str) -> Path:
        folder = self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="blender-dp-", dir=self._directory)
        )
        link = Path(folder, name)
        link.symlink_to(_DESCRIPTORS / str(file.fileno()))
        self._labels[str(link)] = label
        return link


def _file_without_name(directory: Path | None) -> BinaryIO:
    if not _DESCRIPTORS.exists():
        raise InputError("the log", "it must be unpacked first: only Linux can unpack it here")
    return tempfile.TemporaryFile(dir=directory)


def _recode(label: Path | str, packed: IO[bytes], file: BinaryIO, encoding: str) -> None:
    text = io.TextIOWrapper(cast("BinaryIO", packed), encoding, newline="")
    try:
        while chunk := text.read(CHUNK_BYTES):
            file.write(chunk.encode())
    except UnicodeError:
        raise InputError(label, f"the text is not {encoding.upper()}, as it begins") from None
    finally:
        text.detach()


def _refuse_document(path: Path, names: list[str]) -> None:
    kinds = {
        "xl/workbook.xml": "an Excel workbook",
        "xl/workbook.bin": "an Excel workbook",
        "content.xml": "an OpenDocument file",
    }
    for name, kind in kinds.items():
        if name in names:
            raise InputError(path, f"it is {kind}, which is not read here; save it as CSV (UTF-8)")


@contextmanager
def _unzipping(path: Path) -> Iterator[None]:
    try:
        with naming(path):
            yield
    except zipfile.BadZipFile:
        raise InputError(path, "the archive is cut off or damaged") from None
    except (RuntimeError, NotImplementedError):
        # zipfile has no error of its own for these.
        raise InputError(path, "the archive has a password or a packing of its own") from None
