"""Files that appear complete or not at all, and the order of their rows."""

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.engine.synthetic.draws import generator

ROWS_AT_A_TIME = 500_000

_SHUFFLE_STREAM = 1
_LAYOUT_STREAM = 2
_GZIP_LEVEL = 3  # several times as fast as the default 9, for files a tenth larger


@contextmanager
def appearing_whole(path: Path) -> Iterator[BinaryIO]:
    """Open ``path`` for writing; the file appears under that name when it is complete.

    A file whose name ends in ``.gz`` is compressed, to the same bytes every time.
    """
    if not path.parent.is_dir():
        raise ParameterError("output", "in a folder that exists", str(path))
    if path.is_dir():
        raise InputError(path, "is a directory; a file is to be written here")
    with _naming(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.partial-", dir=path.parent)
    unfinished = Path(name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - a handle, not a path
            if ending(path).endswith(".gz"):
                with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as compressed:
                    yield cast("BinaryIO", compressed)
            else:
                yield file
        unfinished.chmod(0o644)
        with _naming(path):
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the path that was asked for in an error, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror})") from None


def ending(path: Path) -> str:
    """Return the suffix that chooses the format, such as ``.tsv`` or ``.tsv.gz``."""
    last_two = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "".join(last_two if last_two[-1:] == [".gz"] else last_two[-1:])


def require_plain_text(path: Path) -> None:
    """Refuse names that promise another format than lines of text."""
    if ending(path).removesuffix(".gz") not in {".txt", ".tsv"}:
        requirement = "a name ending in .txt or .tsv, with or without .gz"
        raise ParameterError("output", requirement, path.name)


def shuffled(count: int, seed: int) -> NDArray[np.int64]:
    """Return 0 to ``count`` - 1 in the order in which a log of this seed is written."""
    return generator(seed, _SHUFFLE_STREAM).permutation(count)


def layout_generator(seed: int) -> np.random.Generator:
    """Return the generator of values that only the layout has, such as times of day."""
    return generator(seed, _LAYOUT_STREAM)


def in_chunks(
    rows: NDArray[np.int64], size: int = ROWS_AT_A_TIME
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Yield ``rows`` in pieces, each with the share of rows done after it."""
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        yield chunk, (start + len(chunk)) / len(rows)
