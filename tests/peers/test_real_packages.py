"""The peers' own code on a distribution that is known, where their packages are installed.

``make peers`` runs these in the environment of the peers; elsewhere the adapters are tested with
packages that add no noise (test_adapters.py) and with OpenDP (test_opendp.py).
"""

import math
import random

import numpy as np
import pytest
from peers.small_tasks import small_task

from benchmarks.peers import (
    multi_freq_ldpy,
    pipeline_dp,
    pure_ldp,
    pure_ldp_heavy_hitters,
)
from benchmarks.peers.catalogue import installed
from benchmarks.peers.task import Peer, Task, package
from exact_tests import FALSE_ALARM

pytestmark = pytest.mark.filterwarnings("ignore")  # their warnings are theirs to mend

EPSILON = 3.0
CLIENTS = 60_000
SHARES = np.array([0.4, 0.3, 0.2])
"""Of the known records; 0.1 have another one."""
ODDS = math.exp(EPSILON)
WIDTHS = {
    "pure-ldp GRR": (ODDS + 3) / (ODDS - 1),
    "pure-ldp OUE": 1 / (1 / 2 - 1 / (ODDS + 1)),
    "pure-ldp OLH (fast)": 1 / (ODDS / (ODDS + 20) - 1 / 21),  # 21 hash values
    "pure-ldp Hadamard response": 2 * (2 * 8 - 1 + ODDS) / (ODDS - 1),  # 8 blocks for 4 items
    "multi-freq-ldpy RAPPOR": (math.exp(EPSILON / 2) + 1) / (math.exp(EPSILON / 2) - 1),
    "multi-freq-ldpy subset selection": (ODDS + 3) / (ODDS - 1),  # subsets of one: GRR
}
"""By how much the report of one user can move an estimate, times the number of users."""


def known_task(shares: np.ndarray = SHARES) -> Task:
    counts = (np.append(shares, 1 - shares.sum()) * CLIENTS).round().astype(int)
    return small_task([], np.repeat([0, 1, 2, 3], counts).tolist(), epsilon=EPSILON)


def margin(name: str) -> float:
    """Return what Hoeffding leaves of an estimate's error but for the false alarm.

    Four estimates share the alarm. One that is rescaled to sum one is off by its own error and
    its share of all four.
    """
    error = WIDTHS[name] * math.sqrt(math.log(8 / FALSE_ALARM) / (2 * CLIENTS))
    return error * (1 + 0.4 * 4) / (1 - 4 * error) if name.startswith("multi") else error


ORACLES = installed(pure_ldp.PEERS + multi_freq_ldpy.PEERS)


@pytest.mark.skipif(not ORACLES, reason="the extra peers is not installed")
@pytest.mark.parametrize("peer", ORACLES, ids=lambda peer: peer.name)
def test_oracles_estimate_without_bias(peer: Peer) -> None:
    """False alarm 1e-9 by Hoeffding's bound; with the shares the other way round it fails."""
    estimate = peer.find(known_task()).probability
    assert np.abs(estimate - SHARES).max() <= margin(peer.name)
    turned = peer.find(known_task(SHARES[::-1])).probability
    assert np.abs(turned - SHARES).max() > margin(peer.name)


HEAVY_HITTERS = installed(pure_ldp_heavy_hitters.PEERS)


@pytest.mark.skipif(not HEAVY_HITTERS, reason="the extra peers is not installed")
def test_prefix_extending_finds_what_nobody_told_it_of() -> None:
    """Its two generators are seeded: it finds what it finds. Estimates deviate by about 0.01."""
    random.seed(1)
    np.random.seed(1)
    found = HEAVY_HITTERS[0].find(known_task())
    estimate = dict(zip(found.record.tolist(), found.probability.tolist(), strict=True))
    assert [estimate[record] for record in range(3)] == pytest.approx(SHARES, abs=0.05)


PIPELINES = installed(pipeline_dp.PEERS)


@pytest.mark.skipif(not PIPELINES, reason="the extra peers is not installed")
def test_pipeline_dp_counts_with_little_noise() -> None:
    """Laplace noise of scale 4/ε: beyond 40 with probability e^-30."""
    found = PIPELINES[1].find(known_task())
    count = dict(zip(found.record.tolist(), (found.probability * CLIENTS).tolist(), strict=True))
    assert [count[record] for record in range(3)] == pytest.approx(SHARES * CLIENTS, abs=40)


@pytest.mark.skipif(not ORACLES, reason="the extra peers is not installed")
def test_rappor_of_pure_ldp_gives_the_truth_away() -> None:
    """Why it is left out. Were bits flipped as f = 1/2 says, this would fail but for 0.75^400."""
    oracles = package(pure_ldp.ORACLES)
    client = oracles.RAPPORClient(0.5, 4, [[lambda _item: 2]], num_of_cohorts=1)
    assert all(client.privatise(1)[0][2] == 1 for _ in range(400))
