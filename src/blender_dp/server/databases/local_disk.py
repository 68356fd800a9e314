"""Refusal of SQLite files on network file systems.

Processes share SQLite's log through memory and locks of one machine. Over a network file system
neither reaches other machines, and some such systems have no locks at all.
"""

import logging
import os
import re
from pathlib import Path

from blender_dp.core.errors import InputError

_LOG = logging.getLogger(__name__)
_MOUNTS = Path("/proc/self/mountinfo")
"""List of mounted file systems; only Linux has it."""
_NETWORK = frozenset(
    [
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "davfs", "ceph", "lustre"),
        *("glusterfs", "beegfs", "ocfs2", "gfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph"),
        *("fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.mount.davfs", "fuse.smbnetfs"),
    ]
)
_DOUBTFUL = ("9p", "virtiofs", "fuse")
"""Types that may be a virtual machine's own disk or a disk of another machine."""


def require_local_disk(path: Path) -> None:
    """Refuse a file on a network file system; warn if it may be on one."""
    kind = _kind_of_file_system(Path(os.path.realpath(path)))
    if kind in _NETWORK:
        raise InputError(
            path,
            f"is on a network file system ({kind}), where SQLite may lose acknowledged data; "
            "use a disk of this machine, or PostgreSQL",
        )
    if kind.partition(".")[0] in _DOUBTFUL:
        _LOG.warning("the database is on %s; no other machine may use it at the same time", kind)


def _kind_of_file_system(path: Path) -> str:
    """Return the type of the file system at a path; an empty text if unknown."""
    try:
        mounted = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    found: tuple[int, str] = (0, "")
    for line in mounted:
        place, _, source = line.partition(" - ")
        point = Path(_unescape(place.split(" ")[4]))
        # The innermost mount counts; of several at one place, the last.
        if path.is_relative_to(point) and len(point.parts) >= found[0]:
            found = (len(point.parts), source.split(" ")[0])
    return found[1]


def _unescape(name: str) -> str:
    """Return a name with its spaces, which the list writes as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), name)
