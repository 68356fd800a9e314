"""Tasks of a few records whose truth is known by construction."""

from collections.abc import Sequence

import numpy as np

from benchmarks.peers.task import Task
from blender_dp.evaluation.trials.coded_log import CodedLog


def small_task(
    opt_in: Sequence[int],
    clients: Sequence[int],
    known: Sequence[int] = (0, 1, 2),
    **changed: float,
) -> Task:
    """Return a task over five records: query 0 has 0 and 1, query 1 has 2, query 2 has 3 and 4."""
    settings: dict[str, float] = {"epsilon": 4.0, "delta": 1e-5, "list_size": 10, "seed": 7}
    settings.update(changed)
    return Task(
        opt_in=np.array(opt_in, dtype=np.int64),
        clients=np.array(clients, dtype=np.int64),
        query=np.array([0, 0, 1, 2, 2]),
        url=np.array([0, 1, 0, 0, 1]),
        known=np.array(known),
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        list_size=int(settings["list_size"]),
        seed=int(settings["seed"]),
    )


def small_log() -> CodedLog:
    """Return ten users with one record each: 4, 1 of query 0; 3 of query 1; 1, 1 of query 2."""
    query = np.array([0] * 5 + [1] * 3 + [2] * 2)
    url = np.array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    return CodedLog.of(np.arange(10), query, url)
