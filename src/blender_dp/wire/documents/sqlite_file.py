"""Creation of a private SQLite file without a second descriptor on it.

POSIX drops all locks of a process on a file as soon as the process closes *any* descriptor of that
file. SQLite's locks are such locks: a process that opens and closes the file beside SQLite loses
them silently. The next process that closes the database then takes itself for the last one and
deletes the log (``-wal``) with all acknowledged data in it. So only SQLite may open a database that
might be in use.
"""

import errno
import os
from pathlib import Path
from threading import Lock

_CREATION = Lock()
"""Held from creation to close, so that no thread connects to a file that is still to be closed."""


def create_private_file(path: Path) -> bool:
    """Create an empty file that only its owner reads, unless there is one.

    An existing file is never opened, only its name is checked.

    Returns:
        Whether the file is new.
    """
    place = os.path.realpath(path)  # O_EXCL does not follow a link to a missing file
    with _CREATION:
        try:
            os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if not os.access(place, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place) from None
            return False
        return True
