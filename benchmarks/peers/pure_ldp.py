"""pure-ldp's frequency oracles: every user is asked, about records that are known beforehand.

Its clients randomise one user a call, so these methods loop over users in Python.

Its RAPPOR is left out. In version 1.2.0 the client never turns a one into a zero, so that a zero
in a report excludes what hashes there for certain: no ε holds (a test shows it).
RAPPOR is therefore taken from multi-freq-ldpy.
"""

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.task import FoundRecords, Peer, Task, package

ORACLES = "pure_ldp.frequency_oracles"
HASHES = 10_000
"""Hash functions that the fast variant of OLH draws from.

Nine users in ten have a record that is not known, all of them the same item. Another item that
shares k/g ± √(k/g) of k hash values with it is off by as much: at its authors' 500, by more than
the noise.
"""

Pair = Callable[[float, int], tuple[Any, Any]]
"""From ε and the number of items to a client and its server."""


def _itself(item: int) -> int:
    return item


def ask_everybody(task: Task, pair: Pair) -> FoundRecords:
    """Have every user's item randomised by the client and the reports read by the server."""
    client, server = pair(task.epsilon, task.domain_size)
    collect(client, server, task.items())
    with warnings.catch_warnings():  # it warns of small samples, for which we have standard errors
        warnings.simplefilter("ignore", RuntimeWarning)
        count = server.estimate_all(range(task.domain_size), suppress_warnings=True)
    return task.found_among_known(np.asarray(count) / server.n)


def collect(client: Any, server: Any, answers: Iterable[object]) -> None:  # noqa: ANN401
    """Send every user's randomised answer to the server."""
    with warnings.catch_warnings():  # its Hadamard response draws integers in a deprecated way
        warnings.simplefilter("ignore", DeprecationWarning)
        for answer in answers:
            server.aggregate(client.privatise(answer))


def _grr(epsilon: float, items: int) -> tuple[Any, Any]:
    oracles = package(ORACLES)
    return oracles.DEClient(epsilon, items, _itself), oracles.DEServer(epsilon, items, _itself)


def _oue(epsilon: float, items: int) -> tuple[Any, Any]:
    oracles = package(ORACLES)
    arguments = {"use_oue": True, "index_mapper": _itself}
    return (
        oracles.UEClient(epsilon, items, **arguments),
        oracles.UEServer(epsilon, items, **arguments),
    )


def _olh(epsilon: float, items: int) -> tuple[Any, Any]:
    oracles = package(ORACLES)
    arguments = {"k": HASHES, "use_olh": True, "index_mapper": _itself}
    return (
        oracles.FastLHClient(epsilon, items, **arguments),
        oracles.FastLHServer(epsilon, items, **arguments),
    )


def _hadamard(epsilon: float, items: int) -> tuple[Any, Any]:
    oracles = package(ORACLES)
    server = oracles.HadamardResponseServer(epsilon, items, _itself)
    hashes = server.get_hash_funcs()
    return oracles.HadamardResponseClient(epsilon, items, hashes, _itself), server


def _oracle(name: str, pair: Pair) -> Peer:
    return Peer(
        name=f"pure-ldp {name}",
        model="local",
        users="everybody",
        is_told_records=True,
        module=ORACLES,
        find=partial(ask_everybody, pair=pair),
    )


PEERS = (
    _oracle("GRR", _grr),
    _oracle("OUE", _oue),
    _oracle("OLH (fast)", _olh),
    _oracle("Hadamard response", _hadamard),
)
