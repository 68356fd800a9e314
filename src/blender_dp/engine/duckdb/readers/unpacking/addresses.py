"""Remote log files: DuckDB's extension httpfs fetches them, where it is installed."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

import duckdb

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.interruption import interruptible

_ADDRESS = re.compile(r"(https?|s3|gs):/+", re.IGNORECASE)
_WEB = re.compile(r"https?:", re.IGNORECASE)
_USER = re.compile(r"//([^/?#@:]*:(?!\d+/).*|[^/?#]*)@")
"""A user, perhaps with a password, in which any sign may stand; a number after ``:`` is a port."""
_QUERY = re.compile(r"[?#]")
_BUCKET_PARAMETERS = re.compile(r"\?(?=\w+=)")
LARGEST_FILE_BYTES = 4 * 10**9
"""Largest file that is fetched: DuckDB holds a fetched file as one value of at most 2^32 bytes."""
_PIPED = "curl -L ADDRESS | blender-dp run - …"
_INSTALLATION = """python -c "import duckdb; duckdb.sql('INSTALL httpfs')\""""
_ACCESS = "; give access by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or by a secret of DuckDB"


def is_address(path: str | Path) -> bool:
    """Tell whether a path is an address that httpfs reads: https://, http://, s3:// or gs://."""
    return _ADDRESS.match(str(path)) is not None


def is_web(path: str | Path) -> bool:
    """Tell whether a path is an address of the web, which Spark does not read."""
    return is_address(path) and _WEB.match(str(path)) is not None


def address_of(path: str | Path) -> str:
    """Return the address that a path stands for: paths have one slash where addresses have two.

    >>> address_of(Path("https://host.example/log.csv"))
    'https://host.example/log.csv'
    """
    return _ADDRESS.sub(r"\1://", str(path), count=1)


def shown_address(path: str | Path) -> str:
    """Return a path as messages and results show it, without what may give access.

    That is a user and password, what follows ``?`` or ``#`` in an address of the web, and DuckDB's
    parameters in one of a bucket, where ``?`` may be a pattern.
    """
    address = _USER.sub("//", address_of(path), count=1) if "://" in address_of(path) else str(path)
    if not is_address(path):
        return address
    return (_QUERY if is_web(path) else _BUCKET_PARAMETERS).split(address, maxsplit=1)[0]


def require_unchanged(path: str | Path) -> None:
    """Refuse an address that would be another one as a path.

    Raises:
        InputError: With a way that works.
    """
    if is_address(path) and address_of(Path(path)) != address_of(path):
        rule = "after the host, an address must have no // and no /./, and no / at its end"
        raise InputError(shown_address(path), f"{rule}; {_instead(path)}")


def has_httpfs() -> bool:
    """Tell whether DuckDB's extension httpfs is installed."""
    with closing(duckdb.connect(config={"autoinstall_known_extensions": False})) as connection:
        return _is_loaded(connection)


def files_at(path: Path) -> list[str]:
    """Return the addresses of the files that an address or a pattern of addresses names.

    Raises:
        InputError: httpfs is not installed, nothing is there, or a file is too large.
    """
    with _reaching(path) as connection:
        found = connection.execute(
            "SELECT filename, size FROM read_blob($1) ORDER BY filename", [address_of(path)]
        ).fetchall()
    for name, size in found:
        if size is not None and size > LARGEST_FILE_BYTES:
            rule = f"at most {LARGEST_FILE_BYTES / 1e9:g} GB are fetched at once; pipe it: {_PIPED}"
            raise InputError(shown_address(name), rule)
    return [str(name) for name, _ in found]


def fetch(address: str, file: BinaryIO) -> None:
    """Write the bytes at an address into an open file.

    Raises:
        InputError: It cannot be fetched.
    """
    with _reaching(address) as connection:
        write_content(connection, address, file)


def write_content(connection: duckdb.DuckDBPyConnection, address: str, file: BinaryIO) -> None:
    """Let DuckDB write the bytes of one file into an open file."""
    # COPY keeps the content out of Python's memory.
    connection.execute(
        f"COPY (SELECT content FROM read_blob($1)) TO '/proc/self/fd/{file.fileno()}' "  # noqa: S608
        "(FORMAT blob, USE_TMP_FILE false)",
        [address],
    )


@contextmanager
def _reaching(path: str | Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB that reads addresses, and explain what it could not reach."""
    with closing(duckdb.connect(config={"autoinstall_known_extensions": False})) as connection:
        if not _is_loaded(connection):
            raise InputError(shown_address(path), _missing(path))
        try:
            with interruptible():
                yield connection
        except duckdb.Error as error:
            raise InputError(shown_address(path), _reason(error, path)) from None


def _is_loaded(connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        connection.execute("LOAD httpfs")  # never INSTALL: nothing is fetched that nobody asked for
    except duckdb.Error:
        return False
    return True


def _instead(path: str | Path) -> str:
    return f"pipe the file: {_PIPED}" if is_web(path) else "use --engine spark"


def _missing(path: str | Path) -> str:
    return (
        "DuckDB reads addresses with its extension httpfs, which is not installed; install it "
        f"({_INSTALLATION}), or {_instead(path)}"
    )


def _reason(error: duckdb.Error, path: str | Path) -> str:
    """Return a sentence; DuckDB's own message quotes the whole address."""
    status = getattr(error, "status_code", None)
    if status is None:
        return "it could not be fetched: no connection, no such host, or no such file"
    access = "" if is_web(path) or status not in (400, 401, 403) else _ACCESS
    return f"it could not be fetched: the server answers {status}{access}"
