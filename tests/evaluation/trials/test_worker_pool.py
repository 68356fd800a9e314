"""Several processes on one log."""

import os
import signal
import time
from operator import attrgetter
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.evaluation.trials import worker_pool
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.worker_pool import checked_workers, work_on

ONE = np.array([1])
LOG = CodedLog.of(ONE, ONE, ONE, users_without_records=3)
JOBS = [attrgetter("users"), attrgetter("no_record"), attrgetter("users")]


@pytest.mark.parametrize("workers", [1, 2, 9])
def test_every_job_is_done_and_told_of_once(workers: int) -> None:
    told = list[tuple[int, Any]]()
    work_on(LOG, JOBS, workers=workers, finished=lambda *done: told.append(done))
    assert sorted(told) == [(0, 4), (1, 1), (2, 4)]


def test_no_jobs_are_no_work() -> None:
    work_on(LOG, list[Any](), workers=2, finished=lambda *_: pytest.fail("there was none"))


def test_an_error_of_a_worker_arrives_as_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: CodedLog) -> None:
        raise ParameterError("epsilon", "larger", 1)

    monkeypatch.setattr(worker_pool, "_log", [LOG])
    with pytest.raises(BlenderError, match="epsilon must be larger; got 1") as error:
        worker_pool._work(refuse)
    assert type(error.value) is BlenderError


def test_a_worker_that_dies_is_a_sentence_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_work", os._exit)
    ends: Any = [1, 1]  # what os._exit takes, in place of jobs
    with pytest.raises(BlenderError, match="try fewer --workers"):
        work_on(LOG, ends, workers=2, finished=lambda *_: None)


def test_workers_are_at_least_one_and_by_default_all_processors() -> None:
    assert checked_workers(None) == os.cpu_count()
    assert checked_workers(3) == 3
    with pytest.raises(ParameterError, match="workers"):
        checked_workers(0)


def test_ctrl_c_waits_until_the_workers_are_started() -> None:
    """Another thread receives the signal, as the one that draws a progress bar may."""
    begun, sent = Event(), Event()
    steps: list[str] = []

    def interrupt() -> None:
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)
        sent.set()

    def start() -> None:
        with worker_pool._ctrl_c_held_back():
            begun.set()
            sent.wait()
            other.join()
            time.sleep(0.1)  # a handler that is not held back is called within it
            steps.append("started")

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    other = Thread(target=interrupt)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert steps == ["started"]
