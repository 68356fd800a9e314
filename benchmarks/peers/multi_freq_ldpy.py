"""multi-freq-ldpy's frequency oracles: every user is asked, about records known beforehand.

Its clients randomise one user a call, compiled by numba, so these methods loop over users in
Python. Its estimates are clipped at zero and made to sum to one: that is its estimator.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.peers.task import FoundRecords, Peer, Task, package

ORACLES = "multi_freq_ldpy.pure_frequency_oracles"


@dataclass(frozen=True, slots=True)
class _Reports:
    """Reports that are made as they are read: all at once, a bit per record would not fit."""

    randomise: Callable[[int], object]
    items: list[int]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[object]:
        return map(self.randomise, self.items)


def rappor(task: Task) -> FoundRecords:
    """Ask every user for a bit of each item: symmetric unary encoding, RAPPOR without hashing."""
    unary = package(f"{ORACLES}.UE")
    _seed(task)
    reports = _Reports(
        partial(unary.UE_Client, k=task.domain_size, epsilon=task.epsilon, optimal=False),
        task.items(),
    )
    return task.found_among_known(unary.UE_Aggregator_MI(reports, task.epsilon, optimal=False))


def subset_selection(task: Task) -> FoundRecords:
    """Ask every user for a set of items that holds the true one more often than others."""
    subsets = package(f"{ORACLES}.SS")
    _seed(task)
    reports = _Reports(
        partial(subsets.SS_Client, k=task.domain_size, epsilon=task.epsilon), task.items()
    )
    estimate = subsets.SS_Aggregator_MI(reports, task.domain_size, task.epsilon)
    return task.found_among_known(estimate)


def _seed(task: Task) -> None:
    """Seed numba's own generator, which numpy's does not reach."""

    def seed(value: int) -> None:
        np.random.seed(value)  # noqa: NPY002 - numba knows no other

    package("numba").njit(seed)(task.seed)


def _oracle(name: str, find: Callable[[Task], FoundRecords]) -> Peer:
    return Peer(
        name=f"multi-freq-ldpy {name}",
        model="local",
        users="everybody",
        is_told_records=True,
        module=ORACLES,
        find=find,
    )


PEERS = (_oracle("RAPPOR", rappor), _oracle("subset selection", subset_selection))
