"""Lines with numbers of one's own."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from blender_dp.evaluation.reproduction.series import Role, Series, measured_point

UNREACHED = [math.nan] * 9


def spread(middle: float, around: float = 0.01) -> list[float]:
    """Return nine trials whose median is ``middle`` and whose interval reaches 3/4 as far."""
    return [middle + around * (i - 4) / 4 for i in range(9)]


def series(
    points: Mapping[float, Sequence[float]], label: str = "line", role: Role = "blended"
) -> Series:
    """Return a line of these trials by place."""
    made = tuple(measured_point(x, np.array(values, float)) for x, values in points.items())
    return Series(label=label, role=role, measure="ndcg", points=made)
