"""Other processes on the service's database: ``python second_process.py DATA DATABASE``.

Everything is imported once; each line read forks a process that does one thing as an operator
would, from opening the database to closing it, and says how it ended. The first line written says
that everything is ready.
"""

import os
import shlex
import sqlite3
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from blender_dp.cli.application import app
from blender_dp.cli.service_options import ServiceOptions
from blender_dp.service.storage.sqlite.backup import back_up


def command(storage: ServiceOptions, *words: str) -> None:
    database = () if storage.database is None else ("--database", storage.database)
    app([*words, "--data", str(storage.data), *database])


def read_by_sqlite(storage: ServiceOptions) -> None:
    with closing(sqlite3.connect(storage.url, timeout=60)) as connection:
        connection.execute("SELECT count(*) FROM report_ids").fetchone()


def copy_and_check(storage: ServiceOptions) -> None:
    copy = storage.data / f"copy-{os.urandom(8).hex()}"
    back_up(Path(storage.url), copy)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    copy.unlink()


KINDS: Mapping[str, Callable[[ServiceOptions], None]] = {
    "token-list": lambda storage: command(storage, "token", "list"),
    "token-create": lambda storage: command(
        storage, "token", "create", os.urandom(8).hex(), "--role", "analyst"
    ),
    "work": lambda storage: command(storage, "work", "--once"),
    "backup": copy_and_check,
    "sqlite": read_by_sqlite,
}


def run_one(storage: ServiceOptions, line: str) -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        kind, *words = shlex.split(line)
        if kind in KINDS:
            KINDS[kind](storage)
        else:
            command(storage, kind, *words)
    except BaseException:  # noqa: BLE001 - the parent goes on, whatever it was
        traceback.print_exc()
        return 1
    return 0


def main(data: str, database: str) -> None:
    storage = ServiceOptions(data=Path(data), database=database or None)
    os.write(1, b"ready\n")
    for line in sys.stdin:
        process = os.fork()
        if not process:
            os._exit(run_one(storage, line))
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
