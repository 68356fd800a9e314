"""Activity of users that a release suggests: how many records they have, and how unequally.

Two released scalars say it: the average weight, which is the mean of √(distinct records) up to a
cap, and the concentration, which is the mean share of a record in the data of those who have it.
"""

from statistics import NormalDist

import numpy as np

from blender_dp.core.curator.budget import MOST_RECORDS
from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.engine.synthetic.laws import ONE_RECORD
from blender_dp.engine.synthetic.shapes import Activity

MOST_ROWS = 400
_MEANS: FloatArray = np.geomspace(1.02, 100, 120)
_SPREADS: FloatArray = np.linspace(0, 1.6, 17)
_USERS: FloatArray = np.array([NormalDist().inv_cdf((i + 0.5) / 200) for i in range(200)])
_WORTH_IT = 4.0
"""Users have several records only if that explains the scalars better than this."""

_EQUAL = 0.1


def activity_of(discovery: ReleasedDiscovery, listed: FloatArray) -> Activity:
    """Return the activity that explains the released scalars best.

    Args:
        discovery: The scalars and their errors.
        listed: Probabilities of the listed records; users draw popular ones more than once.
    """
    weight, concentration = discovery.average_weight, discovery.record_concentration
    if weight is None or concentration is None:
        return ONE_RECORD
    if concentration < 1:  # a release states it one standard error too large
        concentration -= discovery.concentration_error or 0.0
    errors = (
        max(discovery.average_weight_error or 0.0, 0.005),
        max(discovery.concentration_error or 0.0, 0.005),
    )

    weights = np.sqrt(np.minimum(_distinct(listed), MOST_RECORDS))
    popular = float((listed**2).sum() / max(listed.sum(), 1e-12))

    def misfit(activity: Activity) -> float:
        rows = _rows(activity)
        alone = float((1 / rows).mean())
        stated = float(weights[rows - 1].mean()), alone + (1 - alone) * popular
        off = (stated[0] - weight) / errors[0], (stated[1] - concentration) / errors[1]
        # Of activities that explain the scalars equally well, that of more equal users.
        return off[0] ** 2 + off[1] ** 2 + _EQUAL * activity.spread**2

    several = [
        Activity(mean_records=float(mean), spread=float(spread), cap=MOST_ROWS)
        for mean in _MEANS
        for spread in _SPREADS
    ]
    best = min(several, key=misfit)
    return best if misfit(best) + _WORTH_IT < misfit(ONE_RECORD) else ONE_RECORD


def _rows(activity: Activity) -> IntArray:
    """Return the numbers of rows of 200 typical users, as ``Activity.counts`` draws them."""
    if activity.mean_records == 1:
        return np.ones(1, dtype=np.int64)
    log_median = np.log(activity.mean_records - 0.5) - activity.spread**2 / 2
    rows = np.ceil(np.exp(log_median + activity.spread * _USERS))
    return np.asarray(np.clip(rows, 1, activity.cap), dtype=np.int64)


def _distinct(listed: FloatArray) -> FloatArray:
    """Return the expected number of distinct records among 1, 2, ... rows of a user."""
    rows = np.arange(1.0, MOST_ROWS + 1)
    rest = max(1 - float(listed.sum()), 0.0)
    missed = np.log1p(-np.minimum(listed, 1 - 1e-12))
    return np.asarray(rows * rest - np.expm1(rows[:, None] * missed).sum(axis=1))
