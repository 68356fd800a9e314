"""Heavy hitters of pure-ldp: every user is asked, without a list of known records.

This is the task that BLENDER solves, in the local model. Both protocols ask about parts of a
string and put together what is frequent; a record is the shortest string it can be
(:class:`RecordCodes`), which favours them. The oracle inside is pure-ldp's sketch response over
fast local hashing, the one of its oracles whose cost does not grow with the number of strings.
"""

import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.peers.pure_ldp import ORACLES, collect
from benchmarks.peers.record_codes import RecordCodes, bits_for
from benchmarks.peers.task import FoundRecords, Peer, Task, package

PROTOCOLS = "pure_ldp.heavy_hitters"
ROWS, WIDTH, HASHES = 16, 1024, 100
"""Of the sketch, and the hash functions of the oracle in each of its rows."""
UNBIASED_MEAN = 3
"""Which of the sketch's estimators: the only one without a bias."""
PREFIX_BITS = 12
"""By how much PEM extends a prefix in one step, at most: 4,096 candidates for each it kept."""
KEPT_PER_QUERY = 4
"""Strings to look for, for each query of the list: more of them than it will need."""
HEX_DIGITS = 2
"""In one of SFP's fragments: 65,536 fragments with their hash."""


def prefix_extending(task: Task) -> FoundRecords:
    """Find popular records by PEM: each group of users is asked about a longer prefix."""
    protocols = package(PROTOCOLS)
    bits = bits_for(task.no_record + 1)
    groups = math.ceil(bits / PREFIX_BITS)
    step = math.ceil(bits / groups)
    length = step * groups
    codes = RecordCodes(length)
    sketch_client, sketch_server = _sketch(task.epsilon)
    setting = {"index_mapper": _binary, "start_length": 0, "fragment_length": step}
    client = protocols.PEMClient(
        task.epsilon, max_string_length=length, fo_client=sketch_client, **setting
    )
    server = protocols.PEMServer(
        task.epsilon, max_string_length=length, fo_server=sketch_server, **setting
    )
    collect(client, server, (f"{code:0{length}b}" for code in codes.encode(task.everybody)))
    strings, counts = _heavy_hitters(server, task)
    return _found(task, [codes.decode(_binary(string)) for string in strings], counts)


def sequence_fragments(task: Task) -> FoundRecords:
    """Find popular records by SFP: half of ε for a fragment with a hash, half for the whole."""
    protocols = package(PROTOCOLS)
    digits = HEX_DIGITS * math.ceil(bits_for(task.no_record + 1) / (4 * HEX_DIGITS))
    codes = RecordCodes(4 * digits)
    # SFP's server adds its padding sign to the alphabet, so that it must be a set, and a new one.
    sketch_client, sketch_server = _sketch(task.epsilon / 2)
    setting = {"fragment_length": HEX_DIGITS, "max_string_length": digits, "index_mapper": str}
    client = protocols.SFPClient(
        task.epsilon, alphabet=set("0123456789abcdef"), fo_client=sketch_client, **setting
    )
    server = protocols.SFPServer(
        task.epsilon, alphabet=set("0123456789abcdef"), fo_server=sketch_server, **setting
    )
    collect(client, server, (f"{code:0{digits}x}" for code in codes.encode(task.everybody)))
    strings, counts = _heavy_hitters(server, task)
    whole = [i for i, string in enumerate(strings) if "*" not in string]  # no code is padded
    records = [codes.decode(int(strings[i], 16)) for i in whole]
    return _found(task, records, [counts[i] for i in whole])


def _sketch(epsilon: float) -> tuple[Any, Any]:
    oracles = package(ORACLES)
    server = oracles.SketchResponseServer(
        epsilon, ROWS, WIDTH, lh_k=HASHES, sketch_method=UNBIASED_MEAN
    )
    hashes = server.get_hash_funcs()
    return oracles.SketchResponseClient(epsilon, WIDTH, hashes, lh_k=HASHES), server


def _heavy_hitters(server: Any, task: Task) -> tuple[list[str], list[float]]:  # noqa: ANN401
    with warnings.catch_warnings():  # it warns of small samples, for which we have standard errors
        warnings.simplefilter("ignore", RuntimeWarning)
        strings, counts = server.find_heavy_hitters(k=KEPT_PER_QUERY * task.list_size)
    return list(strings), list(counts)


def _found(task: Task, records: Iterable[int], counts: Iterable[float]) -> FoundRecords:
    record, count = np.array(list(records), dtype=np.int64), np.array(list(counts), dtype=float)
    is_record = record != task.no_record
    users = len(task.opt_in) + len(task.clients)
    return FoundRecords(record=record[is_record], probability=count[is_record] / users)


def _binary(string: str) -> int:
    return int(string, 2)


PEERS = (
    Peer(
        name="pure-ldp PEM",
        model="local",
        users="everybody",
        module=PROTOCOLS,
        find=prefix_extending,
    ),
    Peer(
        name="pure-ldp SFP",
        model="local",
        users="everybody",
        module=PROTOCOLS,
        find=sequence_fragments,
    ),
)
