"""Recommended settings: the paper's two fractions, and the length of the list."""

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.parameters import KNOBS, Parameters
from blender_dp.planning.imagined_result import imagined_result
from blender_dp.planning.prediction import Prediction, Setting, seed_of
from blender_dp.planning.prior import Prior

USER_FRACTIONS = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Values among which f_O is chosen."""
BUDGET_FRACTIONS = (0.5, 0.7, 0.85, 0.95)
"""Values among which f_C is chosen."""
_DRAWS = 3
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Settings that a plan recommends."""

    discovery: str
    """Method by which records are found."""
    client_mechanism: str
    """Mechanism by which clients report."""
    query_share: float | None
    """φ, the share of clients that report only the query; chosen again from the released list."""
    head_list_user_fraction: float | None
    """f_O; None in ``sharp``, which does not have it."""
    query_budget_fraction: float | None
    """f_C; None in ``sharp``, which does not have it."""
    head_list_size: int | None
    """M: number of queries known to within half their value; None for all that are found."""


def choose_fractions(prior: Prior, setting: Setting, seed: int) -> Parameters:
    """Return the parameters of ``paper`` with the f_O, then the f_C, of the least error.

    Compared on the same imagined users by the L1 of all records of the 50 most popular queries,
    so that neither a short list nor a long one is favoured.
    """
    drawn = setting.drawable(prior)
    people = [drawn.population(prior, seed_of(seed, -1 - i)) for i in range(_DRAWS)]

    def error(parameters: Parameters) -> float:
        return float(np.mean([imagined_result(one, parameters).top_error for one in people]))

    by_users = [replace(setting.parameters, head_list_user_fraction=f) for f in USER_FRACTIONS]
    best = min(by_users, key=error)
    return min((replace(best, query_budget_fraction=f) for f in BUDGET_FRACTIONS), key=error)


def choices(prediction: Prediction) -> Choices:
    """Return the settings that a prediction recommends."""
    parameters = prediction.setting.parameters
    own = {name: getattr(parameters, name) for name in KNOBS[parameters.preset]}
    found = {
        "laplace": "one record per user, Laplace noise on counts",
        "gauss": "many records per user, Gaussian noise on weights",
    }
    return Choices(
        discovery=found[prediction.branch or "laplace"],
        client_mechanism=prediction.client_mechanism,
        query_share=prediction.query_share,
        head_list_user_fraction=own.get("head_list_user_fraction"),
        query_budget_fraction=own.get("query_budget_fraction"),
        head_list_size=parameters.head_list_size or _recommended_size(prediction),
    )


def _recommended_size(prediction: Prediction) -> int | None:
    """Return the number of queries to keep; None if nearly all found ones are known well enough."""
    found = prediction.measures["queries"].mean
    known = prediction.known_queries
    return None if known >= _NEARLY_ALL * found else max(known, 1)
