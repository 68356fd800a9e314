"""Worker processes that share one log through files, without copies.

Whatever ends the work early, Ctrl-C too, ends the workers at once: nobody waits for a trial whose
outcome is not wanted any more.
"""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.evaluation.trials.coded_log import CodedLog

Outcome = TypeVar("Outcome")
Job = Callable[[CodedLog], Outcome]
"""Work on the log; it must be possible to pickle it."""


def checked_workers(workers: int | None) -> int:
    """Return the number of processes; the number of processors if None."""
    if workers is None:
        return os.cpu_count() or 1
    if workers < 1:
        raise ParameterError("workers", "at least 1", workers)
    return workers


def work_on(
    log: CodedLog,
    jobs: Sequence[Job[Outcome]],
    *,
    workers: int,
    finished: Callable[[int, Outcome], None],
) -> None:
    """Do every job, and call ``finished`` after each.

    Args:
        log: The log that the jobs work on.
        jobs: The jobs, done in any order.
        workers: Number of processes. One runs in this process. Several are new processes, so a
            script that calls this needs the usual ``if __name__ == "__main__":``.
        finished: Called in this process with the number of a job and its outcome.
    """
    workers = min(workers, len(jobs))
    if workers > 1:
        _in_processes(log, jobs, workers, finished)
        return
    for number, job in enumerate(jobs):
        finished(number, job(log))


def _in_processes(
    log: CodedLog,
    jobs: Sequence[Job[Outcome]],
    workers: int,
    finished: Callable[[int, Outcome], None],
) -> None:
    with tempfile.TemporaryDirectory(prefix="blender-dp-") as name:
        directory = Path(name)
        for field in fields(CodedLog):
            np.save(directory / f"{field.name}.npy", getattr(log, field.name))
        pool = ProcessPoolExecutor(
            workers,
            # A fork would copy locks that threads of this process hold.
            mp_context=get_context("spawn"),
            initializer=_start_worker,
            initargs=(directory,),
        )
        others = {child.pid for child in multiprocessing.active_children()}
        try:
            with _ctrl_c_held_back():
                number_of = {pool.submit(_work, job): number for number, job in enumerate(jobs)}
            for done in as_completed(number_of):
                finished(number_of[done], done.result())
        except BrokenProcessPool:
            raise BlenderError(
                "a worker process was ended, perhaps for lack of memory; try fewer --workers"
            ) from None
        except BaseException:
            for child in multiprocessing.active_children():
                if child.pid not in others:
                    child.kill()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Deliver Ctrl-C to this process afterwards, and never to the processes started meanwhile.

    A new process inherits the mask. It would print a traceback if Ctrl-C met it while it starts, or
    this process before it has told the new one what to do. The mask is that of one thread, and
    another one may receive the signal: so the handler is held back as well.
    """
    came: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # others have no handlers
    handler = signal.getsignal(signal.SIGINT)
    if is_main:
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if is_main:
            signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


_log: list[CodedLog] = []
"""Log of this process if it is a worker; set once, when it starts."""


def _start_worker(directory: Path) -> None:
    columns = {
        field.name: np.load(directory / f"{field.name}.npy", mmap_mode="r")
        for field in fields(CodedLog)
    }
    _log.append(CodedLog(**columns))


def _work(job: Job[Any]) -> Any:  # noqa: ANN401 - whatever the job makes
    try:
        return job(_log[0])
    except BlenderError as error:
        # Some exceptions cannot be pickled; their message can.
        raise BlenderError(str(error)) from None
