"""Atomic output: files and directories that appear complete or not at all.

They are written beside their final place and then renamed. After any failure, even Ctrl-C or a
full disk, nothing incomplete is left, and an earlier result is replaced only by a complete one.
"""

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from blender_dp.core.errors import InputError


@contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; at the end rename it and sync it to disk."""
    if path.is_dir():
        raise InputError(path, "is a directory; a file is to be written here")
    with _naming(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.partial-", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        sync(partial)  # before the rename: a crash leaves the old file or the complete new one
        partial.chmod(0o666 & ~_umask())
        with _naming(path):
            partial.replace(path)
        _sync_names(path.parent)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def staged_directory(
    directory: Path, *, overwrite: bool = False, replaceable: Collection[str] = ()
) -> Iterator[Path]:
    """Yield a temporary directory beside ``directory``; at the end rename it and sync it to disk.

    Args:
        directory: Final place of the result; missing parents are made.
        overwrite: Whether an earlier result may be replaced.
        replaceable: The names that an earlier result may hold; a directory with any other name in
            it is not replaced.
    """
    if not directory.name:
        raise InputError(directory, "must be the name of a directory to create")
    _require_free(directory, overwrite=overwrite, replaceable=replaceable)
    with _beside(directory) as partial:
        try:
            yield partial
            _sync_all(partial)
            with _naming(directory):
                _put_in_place(partial, directory)
            _sync_names(directory.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def sync(path: Path) -> None:
    """Wait until a file's content, or a directory's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_all(directory: Path) -> None:
    for folder, _, names in os.walk(directory):
        for name in names:
            sync(Path(folder, name))
        _sync_names(Path(folder))


def _sync_names(directory: Path) -> None:
    # Some file systems cannot, nor can directories without read permission.
    with suppress(OSError):
        sync(directory)


def _require_free(directory: Path, *, overwrite: bool, replaceable: Collection[str]) -> None:
    if not directory.exists() and not directory.is_symlink():
        return
    if not directory.is_dir() or directory.is_symlink():
        raise InputError(directory, "exists and is not a directory; choose another name")
    if not overwrite:
        rule = "exists already; choose another name or pass --overwrite (in Python: overwrite=True)"
        raise InputError(directory, rule)
    with _naming(directory):
        foreign = sorted(entry.name for entry in directory.iterdir())
    if foreign := [name for name in foreign if name not in replaceable]:
        raise InputError(
            directory,
            f"holds {foreign[0]}, which is not part of an earlier result; choose another name",
        )


@contextmanager
def _beside(directory: Path) -> Iterator[Path]:
    """Make an empty directory beside another; remove new parents if the write fails."""
    parent = directory.parent
    missing = [p for p in (parent, *parent.parents) if not p.exists()]
    try:
        with _naming(directory):
            parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.partial-", dir=parent))
            partial.chmod(0o777 & ~_umask())
        yield partial
    except BaseException:
        for made in missing:
            with suppress(OSError):
                made.rmdir()
        raise


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the requested path in an error, not the temporary one."""
    try:
        yield
    except (PermissionError, FileNotFoundError, NotADirectoryError, FileExistsError) as error:
        raise InputError(path, f"cannot be written ({error.strerror})") from None
    except OSError as error:
        error.filename = str(path)
        raise


def _put_in_place(partial: Path, directory: Path) -> None:
    if not directory.exists():
        partial.rename(directory)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{directory.name}.replaced-", dir=directory.parent))
    try:
        directory.rename(old / directory.name)
        partial.rename(directory)
    except BaseException:
        with suppress(FileNotFoundError):  # the earlier result had not been moved yet
            (old / directory.name).rename(directory)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
