"""Targets among the numbers that the curator releases once: ⟨⋆,⋆⟩, branch, concentrations."""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from blender_dp.audit.attacks import NumberReleases, Numbers
from blender_dp.audit.chosen_users import ChosenUsers, record
from blender_dp.audit.targets import Target
from blender_dp.core.certificate.certificate import least_epsilon
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import MOST_RECORDS, Budget
from blender_dp.core.curator.discovery import Discovery, branch_of
from blender_dp.core.curator.plans import weight_plan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.normal_tail import gaussian_delta
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters

_USERS = 20
"""Number of all other users; the result does not depend on it."""
_EFFORT = 1 / 1000
"""Share of the draws: small, because every draw is a run of a step."""
_ALL = "a user who has all that is added up, or nothing of it"


def paper_everything_else(parameters: Parameters) -> Target:
    """Return the target ``paper`` with ⟨⋆,⋆⟩ and a listed record, between which a user moves."""
    listed = _one_record(LocalAlgMechanism.of(parameters))

    def release(users: ChosenUsers, randomness: Randomness) -> Sequence[int]:
        _, estimates = paper_optin.estimate_optin_probabilities(
            users, Discovery(head_list=listed), parameters, randomness
        )
        return int(estimates.counts[0]), int(estimates.counts[-1])

    return _target(
        "everything else, paper",
        (parameters.epsilon, 0.0),
        release,
        ((_USERS + 1,), (1,)),
    )


def branch_scalar(parameters: Parameters) -> Target:
    """Return the scalar of ``sharp`` by which the branch is chosen."""
    budget = Budget.of(parameters)

    def release(users: ChosenUsers, randomness: Randomness) -> Sequence[int]:
        choice = sharp_discovery.choose_branch(users, budget, randomness)
        if choice.weight_sum is None:
            raise BrokenInvariantError("where one record is declared no branch is chosen")
        return (choice.weight_sum,)

    return _target(
        "choice of the branch, sharp",
        (float(budget.branch_epsilon), 0.0),
        release,
        ((1, UNIT),),
    )


def laplace_scalars(parameters: Parameters) -> Target:
    """Return the two concentration scalars of ``sharp`` in the Laplace branch."""
    budget = Budget.of(parameters)
    return _target(
        "scalars, sharp, one record per user",
        (float(budget.scalar_epsilon), 0.0),
        _scalars(parameters, 0),
        ((1, UNIT), (1, UNIT)),
    )


def gaussian_scalars(parameters: Parameters) -> Target:
    """Return the two scalars in the Gaussian branch, compared with their own ε."""
    budget = Budget.of(parameters)
    sigma = weight_plan(budget).scalar_sigma
    cuts = tuple(UNIT // 2 + k * sigma for k in (-1, 0, 1))
    return _target(
        "scalars, sharp, many records per user",
        (epsilon_alone(sigma, budget), parameters.delta),
        _scalars(parameters, UNIT * MOST_RECORDS * _USERS),
        (cuts, cuts),
    )


def epsilon_alone(sigma: int, budget: Budget) -> float:
    """Return the ε, at the δ of the budget, of one of the three Gaussian releases alone."""
    mu = Fraction(isqrt(2 * UNIT**2 << 128) + 1, sigma << 64)

    def spent(at: Fraction) -> Fraction:
        return gaussian_delta(mu, at)

    return float(least_epsilon(spent, budget.delta, budget.rest) or budget.rest)


def _scalars(parameters: Parameters, weight_sum: int) -> Numbers:
    """Return the release of both scalars in the branch that this weight leads to."""
    budget = Budget.of(parameters)
    listed = _one_record(SubsetSelectionMechanism(epsilon=parameters.epsilon, query_share=0.0))
    choice = branch_of(weight_sum, _USERS, budget)
    if (choice.branch == "gauss") != bool(weight_sum):
        raise BrokenInvariantError("a chosen weight did not lead to the branch it was chosen for")
    found = Discovery(head_list=listed, values=np.zeros(1, dtype=np.int64), choice=choice)

    def release(users: ChosenUsers, randomness: Randomness) -> Sequence[int]:
        tally = sharp_optin.tally_cells(users, found, budget, randomness)
        return tally.record_squares, tally.query_squares

    return release


def _one_record(mechanism: Mechanism) -> HeadList:
    return HeadList.of([record(0)], mechanism=mechanism, private=False)


def _target(
    name: str,
    promise: tuple[float, float],
    release: Numbers,
    edges: Sequence[tuple[int, ...]],
) -> Target:
    epsilon, delta = promise
    attack = NumberReleases(release=release, edges=edges, users=_USERS, name=_ALL)
    return Target(name=name, epsilon=epsilon, delta=delta, attacks=[attack], effort=_EFFORT)
