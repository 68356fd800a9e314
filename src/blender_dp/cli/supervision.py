"""Supervisor of several workers on one socket; starts a dead worker again."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import errorcode
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from blender_dp.cli.ending import FORCED_STATUS, STOPPING
from blender_dp.cli.failures import BAD_INPUT
from blender_dp.server.event_log import EventLog

KILLED_AFTER_SECONDS = 9
"""Time from the signal to SIGKILL for a worker that did not end."""
ALL_DIED = 1
"""Exit status if no worker runs and none can be started."""
_MOST_FAILED_STARTS = 5
"""Failed starts of a worker in a row after which the supervisor gives up."""
_SHORT_LIFE_SECONDS = 60
_PAUSES_SECONDS: Sequence[float] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Pauses before a worker is started again; longer after each short run."""
_BY_FORCE = (-signal.SIGKILL, -signal.SIGALRM)
"""Exit statuses of a worker that was killed, by the supervisor or by its own timer."""
_SPAWN = multiprocessing.get_context("spawn")

Serve = Callable[[int, Connection, bool], None]
"""Runs in a worker, given its number, a pipe to signal readiness, and whether it is a restart."""


@dataclass(slots=True)
class _Worker:
    """One worker, through all its restarts."""

    number: int
    serve: Serve
    process: BaseProcess | None = None
    ready: Connection | None = None
    """Readable when the worker listens; None afterwards."""
    listens: bool = False
    began: float = 0.0
    starts_at: float = 0.0
    short_lives: int = 0
    failed_starts: int = 0
    lives: int = 0

    def start(self) -> int | None:
        """Start a process; return its id.

        Raises:
            OSError: The system has no process, memory or descriptor left. Nothing was started.
        """
        ready, saying = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(
            target=self.serve, args=(self.number, saying, self.lives > 0), daemon=False
        )
        try:
            process.start()
        except OSError:
            ready.close()
            raise
        finally:
            saying.close()
        self.process, self.ready = process, ready
        self.began, self.lives = time.monotonic(), self.lives + 1
        return process.pid

    def note_listening(self) -> bool:
        """Update whether the worker listens."""
        if self.ready is None or not self.ready.poll():
            return False
        try:
            self.ready.recv_bytes()
        except (EOFError, OSError):
            return False
        finally:
            self.ready.close()
            self.ready = None
        self.listens, self.failed_starts = True, 0
        return True

    def collect_exit(self) -> tuple[int, int] | None:
        """Return process id and exit status of a worker that died; plan its restart."""
        if self.process is None or self.process.exitcode is None:
            return None
        died = self.process.pid or 0, self.process.exitcode
        if time.monotonic() - self.began >= _SHORT_LIFE_SECONDS:
            self.short_lives = 0
        self.put_off()
        self.process.close()
        if self.ready is not None:
            self.ready.close()
        self.process, self.ready, self.listens = None, None, False
        return died

    def put_off(self) -> None:
        """Plan a later restart after a short run or a failed start."""
        self.short_lives += 1
        self.failed_starts += not self.listens
        last = len(_PAUSES_SECONDS) - 1
        self.starts_at = time.monotonic() + _PAUSES_SECONDS[min(self.short_lives - 1, last)]


class Supervisor:
    """Starts workers, restarts dead ones, and ends all of them together.

    When a worker dies, no acknowledged report is lost, and the kernel gives new connections to the
    others. Its jobs are taken over when their leases end.
    """

    def __init__(
        self,
        serve: Serve,
        count: int,
        event_log: EventLog,
        *,
        listens: Callable[[], None],
        died: Callable[[int], None] = lambda _process: None,
    ) -> None:
        """Plan ``count`` workers.

        Args:
            serve: Function that a worker runs; must be picklable.
            count: Number of workers.
            event_log: Gets a line for every death and start.
            listens: Called once, when the first worker listens.
            died: Called with the id of every process that died.
        """
        self._workers = [_Worker(number, serve) for number in range(count)]
        self._event_log, self._listens, self._died = event_log, listens, died
        self._ever_listened = False

    def run(self) -> int:
        """Supervise until a signal comes; return the exit status."""
        with _signals() as woken:
            try:
                status = self._supervise(woken)
            finally:
                had_to_force = self._end()
        return status or (FORCED_STATUS if had_to_force else 0)

    def _supervise(self, woken: Connection) -> int:
        """Replace dead workers until a signal comes or too many have died."""
        while True:
            self._start_due()
            wait([woken, *self._list_awaited()], self._pause())
            if woken.poll():
                return 0
            self._note_listening()
            if (status := self._replace_dead()) is not None:
                return status

    def _start_due(self) -> None:
        for worker in self._workers:
            if worker.process is not None or worker.starts_at > time.monotonic():
                continue
            try:
                process = worker.start()
            except OSError as error:
                worker.put_off()
                why = errorcode.get(error.errno or 0, "OSError")
                self._event_log.write("worker-not-started", worker=worker.number, error=why)
            else:
                self._event_log.write("worker-started", worker=worker.number, process=process)

    def _list_awaited(self) -> Iterator[Connection | int]:
        for worker in self._workers:
            if worker.process is not None:
                yield worker.process.sentinel
            if worker.ready is not None:
                yield worker.ready

    def _pause(self) -> float | None:
        """Return the seconds until the next worker is to be started; None if none is."""
        due = [worker.starts_at for worker in self._workers if worker.process is None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _note_listening(self) -> None:
        heard = [worker.note_listening() for worker in self._workers]
        if any(heard) and not self._ever_listened:
            self._ever_listened = True
            self._listens()

    def _replace_dead(self) -> int | None:
        """Plan replacements of dead workers; return the exit status if too many have died."""
        for worker in self._workers:
            if (died := worker.collect_exit()) is None:
                continue
            process, status = died
            self._died(process)
            self._event_log.write("worker-died", worker=worker.number, status=status)
            if status == BAD_INPUT and not self._ever_listened:
                return BAD_INPUT  # it printed why, and the next would fail too
        if all(worker.failed_starts >= _MOST_FAILED_STARTS for worker in self._workers):
            self._event_log.write("gave-up")
            return ALL_DIED
        return None

    def _end(self) -> bool:
        """End every worker by a signal; tell whether one did not end by itself."""
        living = [
            (worker.number, worker.process)
            for worker in self._workers
            if worker.process is not None and worker.process.exitcode is None
        ]
        for _, process in living:
            process.terminate()
        until = time.monotonic() + KILLED_AFTER_SECONDS
        for _, process in living:
            process.join(max(0.0, until - time.monotonic()))
        statuses = {number: _kill(process) for number, process in living}
        for number, status in statuses.items():
            if status in _BY_FORCE:  # it was killed before it could log it
                self._event_log.write("ended-by-force", worker=number)
        return any(status in (*_BY_FORCE, FORCED_STATUS) for status in statuses.values())


def _kill(process: BaseProcess) -> int | None:
    """Return the exit status of a process; kill it if it still runs."""
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode


@contextmanager
def _signals() -> Iterator[Connection]:
    """Yield a pipe that becomes readable when a signal to stop arrives."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def on_signal(*_: object) -> None:
        os.write(writing, b"!")

    before = {one: signal.signal(one, on_signal) for one in STOPPING}
    with Connection(reading, writable=False) as woken, Connection(writing, readable=False):
        yield woken
        for one, handler in before.items():
            signal.signal(one, handler)
