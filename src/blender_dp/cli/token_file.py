"""Tokens are read from files: an argument would stand in everybody's list of processes."""

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
