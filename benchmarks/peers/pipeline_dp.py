"""PipelineDP: counts of users by record at a curator, records selected privately.

Its noise cannot be seeded, so these rows are never the same twice.
"""

import math
from functools import partial
from operator import itemgetter

import numpy as np

from benchmarks.peers.task import FoundRecords, Peer, Task, Users, package


def count_users(task: Task, users: Users) -> FoundRecords:
    """Select records and count their users, half of the budget each, as PipelineDP divides it.

    Privacy: PipelineDP promises (ε', δ') to a user who stays away. Somebody else in their place
    is two such steps, (2ε', (1 + exp ε')δ'), and that is set to the task's (ε, δ).
    """
    dp = package("pipeline_dp")
    records = task.records_of(users)
    half = task.epsilon / 2
    budget = dp.NaiveBudgetAccountant(
        total_epsilon=half, total_delta=task.delta / (1 + math.exp(half))
    )
    counted = dp.DPEngine(budget, dp.LocalBackend()).aggregate(
        [row for row in enumerate(records.tolist()) if row[1] != task.no_record],
        dp.AggregateParams(
            noise_kind=dp.NoiseKind.LAPLACE,
            metrics=[dp.Metrics.PRIVACY_ID_COUNT],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
        ),
        dp.DataExtractors(
            privacy_id_extractor=itemgetter(0),
            partition_extractor=itemgetter(1),
            value_extractor=itemgetter(1),
        ),
    )
    budget.compute_budgets()
    counts = {record: metrics.privacy_id_count for record, metrics in counted}
    return FoundRecords(
        record=np.array(list(counts), dtype=np.int64),
        probability=np.array(list(counts.values())) / len(records),
    )


def _central(users: Users) -> Peer:
    return Peer(
        name=f"PipelineDP count, {users}",
        model="central",
        users=users,
        module="pipeline_dp",
        find=partial(count_users, users=users),
    )


PEERS = (_central("opt-in users"), _central("everybody"))
