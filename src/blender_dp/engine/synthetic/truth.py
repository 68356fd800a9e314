"""True probabilities of a synthetic log, to compare private estimates with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blender_dp.engine.synthetic.log import SyntheticLog


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrueProbabilities:
    """p of every record of a log, ordered by query and URL, and of every query.

    They sum to the share of users who have a record at all.
    """

    query: NDArray[np.int64]
    url: NDArray[np.int64]
    probability: NDArray[np.float64]
    """Probability of the record at the same index of ``query`` and ``url``."""
    distinct_query: NDArray[np.int64]
    query_probability: NDArray[np.float64]
    """Probability of the query at the same index of ``distinct_query``: the sum over its URLs."""


def true_probabilities(log: SyntheticLog) -> TrueProbabilities:
    """Return the distribution of one random record of one random user of ``log``.

    It is the mean over users of f_i(r), the share of record r among the records of user i: each row
    adds 1 / (users x records of its user).
    """
    row_weight = 1 / (log.users * np.bincount(log.user, minlength=log.users)[log.user])
    urls = int(log.url.max(initial=0)) + 1
    packed, row_record = np.unique(log.query * urls + log.url, return_inverse=True)
    probability = _sum_by(row_record, row_weight, len(packed))
    query, url = np.divmod(packed, urls)
    distinct_query, record_query = np.unique(query, return_inverse=True)
    return TrueProbabilities(
        query=query,
        url=url,
        probability=probability,
        distinct_query=distinct_query,
        query_probability=_sum_by(record_query, probability, len(distinct_query)),
    )


def _sum_by(
    group: NDArray[np.int64], weight: NDArray[np.float64], groups: int
) -> NDArray[np.float64]:
    return np.asarray(np.bincount(group, weights=weight, minlength=groups), dtype=np.float64)
