"""OpenDP: a histogram of unknown keys at a curator, and randomised response without one.

Its noise cannot be seeded, so these rows are never the same twice.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.task import FoundRecords, Peer, Task, Users, package

ONE_USER = (2, 2, 1)
"""What somebody else in a user's place changes: two counts, by two in all, by one each.

These are BLENDER's neighbours.
"""


def threshold_histogram(task: Task, users: Users) -> FoundRecords:
    """Count records, add Laplace noise and keep what exceeds a threshold that δ decides."""
    dp = package("opendp.prelude")
    dp.enable_features("contrib")
    records = task.records_of(users)
    whole = dp.atom_domain(T=dp.i64)
    histograms = dp.map_domain(whole, whole), dp.l01inf_distance(dp.absolute_distance(T=dp.i64))
    # Rounded up by the last digit, the loss would exceed ε.
    scale = ONE_USER[1] / task.epsilon * (1 + 1e-12)

    def release(threshold: int) -> Any:  # noqa: ANN401 - OpenDP publishes no types
        return dp.m.make_laplace_threshold(*histograms, scale=scale, threshold=threshold)

    def keeps_delta(threshold: int) -> bool:
        return bool(release(threshold).map(ONE_USER)[1] <= task.delta)

    least = dp.binary_search(keeps_delta, bounds=(ONE_USER[2], 2**30))
    record, count = np.unique(records[records != task.no_record], return_counts=True)
    counts = release(least)(dict(zip(record.tolist(), count.tolist(), strict=True)))
    return FoundRecords(
        record=np.array(list(counts), dtype=np.int64),
        probability=np.array(list(counts.values())) / len(records),
    )


def randomized_response(task: Task) -> FoundRecords:
    """Ask every user; each tells the truth with the largest probability that ε allows.

    OpenDP randomises one answer a call. The estimate is the usual inversion, made here.
    """
    dp = package("opendp.prelude")
    dp.enable_features("contrib")
    k, items = task.domain_size, task.items()
    # Rounded up by the last digit, the loss would exceed ε.
    t = math.exp(task.epsilon) / (math.exp(task.epsilon) + k - 1) * (1 - 1e-12)
    respond = dp.m.make_randomized_response(list(range(k)), t)
    reported = np.bincount([respond(item) for item in items], minlength=k) / len(items)
    lie = (1 - t) / (k - 1)
    return task.found_among_known((reported - lie) / (t - lie))


def _central(users: Users) -> Peer:
    return Peer(
        name=f"OpenDP threshold histogram, {users}",
        model="central",
        users=users,
        module="opendp.prelude",
        find=partial(threshold_histogram, users=users),
    )


PEERS = (
    _central("opt-in users"),
    _central("everybody"),
    Peer(
        name="OpenDP randomised response (GRR)",
        model="local",
        users="everybody",
        is_told_records=True,
        module="opendp.prelude",
        find=randomized_response,
    ),
)
