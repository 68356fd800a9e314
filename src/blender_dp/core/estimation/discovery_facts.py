"""Facts about discovery that a release states: the rule, and what noisy scalars say about users.

All of them follow from public parameters and released integers.
"""

from math import sqrt
from typing import Any

import numpy as np

from blender_dp.core.blender import Curated
from blender_dp.core.create_head_list.sharp import branch_noise
from blender_dp.core.curator.budget import MOST_RECORDS, Budget
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.curator.plans import weight_plan
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.core.estimation.unlisted_bound import counting_rule
from blender_dp.core.exact.discrete_laplace import variance
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.head_list.known_list import KnownFrom


def discovery_facts(curated: Curated) -> ReleasedDiscovery | None:
    """Return how the list was found; None in ``paper`` with several records per user."""
    rule = counting_rule(curated.parameters, curated.branch)
    if rule is None and curated.branch != "gauss":
        return None
    right, left, least = (None, None, None) if rule is None else rule
    threshold: float | None = least
    sigma = None
    if rule is None:
        plan = weight_plan(Budget.of(curated.parameters))
        threshold, sigma = plan.threshold / UNIT, plan.discovery_sigma / UNIT
    return ReleasedDiscovery(
        branch=curated.branch,
        users=curated.discovery_users,
        candidate_queries=curated.candidate_queries,
        candidate_records=curated.candidate_records,
        threshold=float(threshold or 0.0),
        right_slope=right,
        left_slope=left,
        sigma=sigma,
        known_elsewhere=_has_known_elsewhere(curated.opt_in.tally),
        **_activity(curated),
    )


def _has_known_elsewhere(tally: OptInTally | None) -> bool:
    """Tell whether a listed record may be on the list without having passed a threshold."""
    if tally is None or tally.known is None:
        return False
    return bool(np.isin(tally.known, (KnownFrom.ELSEWHERE, KnownFrom.UNSAID)).any())


def _activity(curated: Curated) -> dict[str, Any]:
    """Return what the scalars say about how many records users have; None where there are none."""
    views, choice = curated.opt_in.evidence, curated.choice
    names = ("average_weight", "average_weight_error", "record_concentration")
    if not isinstance(views, OptInViews) or choice is None or choice.weight_sum is None:
        return dict.fromkeys((*names, "concentration_error"))
    noise = branch_noise(Budget.of(curated.parameters))
    of_weight = sqrt(MOST_RECORDS * variance(noise.scale)) / (UNIT * curated.discovery_users)
    listed_sum = max(float(views.sums[views.cells.is_discovered].sum()), 1.0)
    return {
        "average_weight": choice.average_weight,
        "average_weight_error": of_weight,
        "record_concentration": views.whole_list.record_concentration,
        "concentration_error": views.square_std_error / listed_sum,
    }
