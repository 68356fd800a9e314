"""Execution of a method in a new process, to measure its time and memory alone."""

import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.peers.task import FoundRecords, Peer, Task
from blender_dp.core.errors import BlenderError

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a method used, the loading of its packages and their compiling included."""

    cpu_seconds: float
    peak_mb: float
    """The most its process held: Python, numpy and the records among it."""


def find_in_own_process(peer: Peer, task: Task) -> tuple[FoundRecords, Cost]:
    """Run a method in a new process; return what it found and what it cost."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(_measured, peer, task).result()
    except BrokenProcessPool:
        raise BlenderError(
            f"the process of {peer.name} was ended, perhaps for lack of memory"
        ) from None


def _measured(peer: Peer, task: Task) -> tuple[FoundRecords, Cost]:
    # The peers draw from these two global generators, and from nothing that could be passed in.
    random.seed(task.seed)
    np.random.seed(task.seed)  # noqa: NPY002
    began = time.process_time()
    found = peer.find(task)
    return found, Cost(cpu_seconds=time.process_time() - began, peak_mb=_peak_mb())


def _peak_mb() -> float:
    """Return the most memory this process held.

    What getrusage says counts what its parent held when it was started; Linux knows better.
    """
    if _STATUS.exists():
        for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
