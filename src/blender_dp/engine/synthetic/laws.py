"""Laws from which the logs of each shape are drawn, for simulations that need no log."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blender_dp.engine.synthetic.shapes import (
    URL_SHARES,
    Activity,
    Shape,
    ShapeOptions,
    activity,
    query_probabilities,
    url_shares,
)
from blender_dp.engine.synthetic.workloads import (
    MOST_RECORDS,
    MULTI_LOG_MEDIAN,
    MULTI_SPREAD,
    multi_probabilities,
    single_probabilities,
)

ONE_RECORD = Activity(mean_records=1, spread=0, cap=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogLaw:
    """Probability of each query, and the distribution of the number of records per user."""

    query_probability: NDArray[np.float64]
    """Most popular first."""
    activity: Activity
    url_shares: tuple[float, ...] = URL_SHARES
    """Shares of a query's URLs in its clicks."""


def log_law(shape: Shape, options: ShapeOptions | None = None) -> LogLaw:
    """Return the law of a shape, the two benchmark workloads among them."""
    options = options or ShapeOptions()
    options.require_for(shape)
    if shape is Shape.AOL_SINGLE:
        probability = single_probabilities()
        return LogLaw(query_probability=probability / probability.sum(), activity=ONE_RECORD)
    if shape is Shape.AOL_MULTI:
        mean = math.exp(MULTI_LOG_MEDIAN + MULTI_SPREAD**2 / 2) + 0.5
        busy = Activity(mean_records=mean, spread=MULTI_SPREAD, cap=MOST_RECORDS)
        return LogLaw(query_probability=multi_probabilities(), activity=busy)
    return LogLaw(
        query_probability=query_probabilities(shape, options),
        activity=activity(shape, options),
        url_shares=url_shares(shape),
    )
