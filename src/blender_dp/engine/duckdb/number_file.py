"""Long column of numbers below 2^32 in a temporary file, read from its beginning in pieces."""

import errno
import io
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from blender_dp.core.errors import BlenderError

UInt32Array = npt.NDArray[np.uint32]
DISK_IS_FULL = "the disk is full: the log's working copy needs more room"


class NumberFile:
    """Numbers in the order in which they were added."""

    def __init__(self, directory: Path | None) -> None:
        """Open an empty file, which is removed with this object.

        Args:
            directory: Where it is; None keeps the numbers in memory.
        """
        self.count = 0
        self._file: BinaryIO = io.BytesIO()
        if directory is not None:
            self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 - see below
        weakref.finalize(self, self._file.close)

    def append(self, numbers: UInt32Array) -> None:
        """Add numbers at the end."""
        try:
            self._file.write(numbers.tobytes())
            self._file.flush()  # a full disk is told here, not when the file is read
        except OSError as error:
            raise BlenderError(
                DISK_IS_FULL if error.errno == errno.ENOSPC else "a working copy cannot be written"
            ) from None
        self.count += len(numbers)

    def pieces(self, size: int) -> Iterator[UInt32Array]:
        """Yield all numbers, ``size`` at once."""
        for start in range(0, self.count, size):
            self._file.seek(4 * start)
            yield np.frombuffer(self._file.read(4 * size), dtype=np.uint32)
