"""Files that hold a token: an argument would be visible in the list of processes."""

import os
from pathlib import Path

from blender_dp.core.errors import InputError


def read_token(path: Path) -> str:
    """Return the token that a file holds on its one line."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(path, "must be a text file with a token") from None
    if not token or len(token.split()) != 1:
        raise InputError(path, "must hold one token and nothing else")
    return token


def write_token(path: Path, token: str) -> None:
    """Write a token to a file that only its owner may read, completely or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(path, f"cannot be written ({error.strerror})") from None
