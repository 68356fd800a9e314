"""Comparison of all methods on the same users, records and promise, one after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.peers.list_scores import ListScores, score_list
from benchmarks.peers.own_process import Cost, find_in_own_process
from benchmarks.peers.task import Peer, Task
from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.group_sizes import opt_in_users
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import coins_of_trial, draw_groups

Done = Callable[[str, int, int], None]
"""Called with the method that starts, how many ran before it, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is compared on."""

    epsilons: tuple[float, ...]
    delta: float
    list_sizes: tuple[int, ...] = (10,)
    opt_in: float = 0.05
    known_queries: int = 100
    """Number of truly most popular queries whose records frequency oracles are told."""
    repetitions: int = 1
    seed: int = 0
    """Of the trials: these are the users and records of ``evaluate`` with the same seed."""

    def __post_init__(self) -> None:
        opt_in_users(1, self.opt_in)  # its range is checked there
        for epsilon, size in product(self.epsilons, self.list_sizes):
            Parameters(epsilon=epsilon, delta=self.delta, head_list_size=size)
        for name in ("repetitions", "known_queries"):
            if getattr(self, name) < 1:
                raise ParameterError(name, "at least 1", getattr(self, name))
        if self.seed < 0:
            raise ParameterError("seed", "0 or more", self.seed)

    def tasks(self, log: CodedLog) -> "Iterator[tuple[int, Task]]":
        """Draw every task, with the number of its repetition."""
        known = records_of_top_queries(log, self.known_queries)
        for number in range(self.repetitions):
            groups, noise = coins_of_trial(self.seed, number)
            opt_in, clients = draw_groups(log, opt_in=self.opt_in, seed=groups)
            for epsilon, size in product(self.epsilons, self.list_sizes):
                yield (
                    number,
                    Task(
                        opt_in=opt_in.drawn,
                        clients=clients.drawn,
                        query=log.query,
                        url=log.url,
                        known=known,
                        epsilon=epsilon,
                        delta=self.delta,
                        list_size=size,
                        seed=noise % 2**32,
                    ),
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One method on one task."""

    peer: Peer
    users: int
    """Whose records it used."""
    epsilon: float
    list_size: int
    repetition: int
    scores: ListScores
    cost: Cost


def compare(
    log: CodedLog, comparison: Comparison, peers: Sequence[Peer], *, progress: Done = no_progress
) -> list[Row]:
    """Run every method on every task, one at a time, each in a new process.

    A script that calls this needs the usual ``if __name__ == "__main__":``.

    Args:
        log: The log to run on.
        comparison: What to compare on.
        peers: The methods; one whose package is missing is refused before anything runs.
        progress: Called when a method starts.
    """
    for peer in peers:
        peer.require_installed()
    of = len(peers) * comparison.repetitions
    of *= len(comparison.epsilons) * len(comparison.list_sizes)
    rows: list[Row] = []
    for number, task in comparison.tasks(log):
        for peer in peers:
            progress(peer.name, len(rows), of)
            found, cost = find_in_own_process(peer, task)
            rows.append(
                Row(
                    peer=peer,
                    users=len(task.records_of(peer.users)),
                    epsilon=task.epsilon,
                    list_size=task.list_size,
                    repetition=number,
                    scores=score_list(found, log, task.list_size),
                    cost=cost,
                )
            )
    return rows


def records_of_top_queries(log: CodedLog, queries: int) -> IntArray:
    """Return all records of the truly most popular queries."""
    popular = np.argsort(-log.query_probability(), kind="stable")[:queries]
    return np.flatnonzero(np.isin(log.query, popular))
