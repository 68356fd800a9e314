"""Targets among the curator's steps: discovery and sums, in each of their variants."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from blender_dp.audit.attacks import UNRELEASED, Release, StepReleases
from blender_dp.audit.chosen_users import ChosenUsers, Swap, number_of, record
from blender_dp.audit.number_targets import (
    branch_scalar,
    epsilon_alone,
    gaussian_scalars,
    laplace_scalars,
    paper_everything_else,
)
from blender_dp.audit.targets import Target
from blender_dp.core.certificate.certificate import least_epsilon
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import MOST_CANDIDATES, Branch, Budget
from blender_dp.core.curator.discovery import Discovery, branch_of
from blender_dp.core.curator.gaussian_plan import WIDEST_SIGMA, total_delta
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters

Edges = tuple[tuple[int, ...], tuple[int, ...]]
_DISCOVERED = MOST_CANDIDATES // 2
"""Pairs of records in one run of discovery. Not more than are kept: otherwise pairs would compete
for places and not be independent."""
_SUMMED = 200
"""Pairs of records that are summed at once: every cell costs a draw of noise."""
_USERS = 20
"""Users of each record whose sum is attacked; their number does not matter."""


def curator_targets(epsilon: float, delta: float) -> list[Target]:
    """Return every step that sees opt-in users' records, under this promise."""
    paper = Parameters(preset="paper", epsilon=epsilon, delta=delta)
    counted = Parameters(epsilon=epsilon, delta=delta, one_record_each=True)
    weighed = Parameters(epsilon=epsilon, delta=delta)
    return [
        paper_names(paper),
        paper_sums(paper),
        paper_everything_else(paper),
        branch_scalar(weighed),
        sharp_counts(counted),
        sharp_laplace_sums(counted),
        laplace_scalars(weighed),
        sharp_weights(weighed),
        sharp_gaussian_sums(weighed),
        gaussian_scalars(weighed),
    ]


def paper_names(parameters: Parameters) -> Target:
    """Return discovery of ``paper``, which releases names."""
    least = paper_discovery.least_passing_count(parameters)

    def release(users: ChosenUsers, randomness: Randomness) -> IntArray:
        found = paper_discovery.create_head_list(users, parameters, randomness)
        return _values(len(users.counts), found.head_list, None)

    return Target(
        name="discovery, paper",
        epsilon=parameters.epsilon,
        delta=parameters.delta,
        attacks=[
            StepReleases(
                release=release, swap=swap, edges=((), ()), pairs=_DISCOVERED, name=_name(swap)
            )
            for swap in _swaps(least)
        ],
        effort=1 / 40,
    )


def sharp_counts(parameters: Parameters) -> Target:
    """Return discovery of ``sharp`` with one record per user, which releases noisy counts."""
    budget = Budget.of(parameters)
    least = count_plan(budget).threshold
    return Target(
        name="discovery, sharp, one record per user",
        epsilon=float(budget.discovery_epsilon),
        delta=parameters.delta,
        attacks=[
            StepReleases(
                release=_discovery(parameters, "laplace"),
                swap=swap,
                edges=_around(swap),
                pairs=_DISCOVERED,
                name=_name(swap),
            )
            for swap in _swaps(least)
        ],
        effort=1 / 40,
    )


def sharp_weights(parameters: Parameters) -> Target:
    """Return discovery of ``sharp`` with many records per user, which releases noisy weights.

    It spends a share of one μ. The ε of that share alone, at δ, is less than that of all three
    releases together; the attack is compared with the former.
    """
    budget = Budget.of(parameters)
    plan = weight_plan(budget)
    alone = replace(plan, estimation_sigma=WIDEST_SIGMA, scalar_sigma=WIDEST_SIGMA)

    def spent(at: Fraction) -> Fraction:
        return total_delta(replace(alone, epsilon=at))

    well_above = (plan.threshold + 2 * plan.discovery_sigma) // UNIT + 1
    return Target(
        name="discovery, sharp, many records per user",
        epsilon=float(least_epsilon(spent, budget.delta, budget.rest) or budget.rest),
        delta=parameters.delta,
        attacks=[
            StepReleases(
                release=_discovery(parameters, "gauss"),
                swap=swap,
                edges=_by_deviations(swap, plan.discovery_sigma),
                pairs=_DISCOVERED,
                name=_name(swap),
            )
            for swap in (Swap(removed=1, added=0), Swap(removed=well_above, added=well_above))
        ],
        effort=1 / 40,
    )


def paper_sums(parameters: Parameters) -> Target:
    """Return the noisy counts of ``paper``."""
    listed = _list_of_pairs(LocalAlgMechanism.of(parameters), _SUMMED)

    def release(users: ChosenUsers, randomness: Randomness) -> IntArray:
        _, estimates = paper_optin.estimate_optin_probabilities(
            users, Discovery(head_list=listed), parameters, randomness
        )
        return estimates.counts[listed.cells.listed]

    swap = Swap(removed=_USERS, added=_USERS)
    return Target(
        name="sums, paper",
        epsilon=parameters.epsilon,
        delta=0.0,
        attacks=[
            StepReleases(
                release=release, swap=swap, edges=_around(swap), pairs=_SUMMED, name=_name(swap)
            )
        ],
        effort=1 / 100,
    )


def sharp_laplace_sums(parameters: Parameters) -> Target:
    """Return the noisy sums of ``sharp`` in the Laplace branch."""
    swap = Swap(removed=_USERS, added=_USERS)
    return Target(
        name="sums, sharp, one record per user",
        epsilon=float(Budget.of(parameters).estimation_epsilon),
        delta=0.0,
        attacks=[_tally(parameters, swap, _around(swap, UNIT))],
        effort=1 / 100,
    )


def sharp_gaussian_sums(parameters: Parameters) -> Target:
    """Return the noisy sums of ``sharp`` in the Gaussian branch, compared with their own ε."""
    budget = Budget.of(parameters)
    sigma = weight_plan(budget).estimation_sigma
    swap = Swap(removed=_USERS, added=_USERS)
    return Target(
        name="sums, sharp, many records per user",
        epsilon=epsilon_alone(sigma, budget),
        delta=parameters.delta,
        attacks=[_tally(parameters, swap, _by_deviations(swap, sigma))],
        effort=1 / 100,
    )


def _tally(parameters: Parameters, swap: Swap, edges: Edges) -> StepReleases:
    budget = Budget.of(parameters)
    mechanism = SubsetSelectionMechanism(epsilon=parameters.epsilon, query_share=0.0)
    listed = _list_of_pairs(mechanism, _SUMMED)
    users = 2 * _USERS * _SUMMED
    weight = None if parameters.one_record_each else UNIT * users
    choice = branch_of(weight, users, budget)
    found = Discovery(head_list=listed, values=np.zeros(2 * _SUMMED, dtype=np.int64), choice=choice)

    def release(users: ChosenUsers, randomness: Randomness) -> IntArray:
        tally = sharp_optin.tally_cells(users, found, budget, randomness)
        return tally.sums[listed.cells.listed]

    return StepReleases(release=release, swap=swap, edges=edges, pairs=_SUMMED, name=_name(swap))


def _discovery(parameters: Parameters, branch: Branch) -> Release:
    def release(users: ChosenUsers, randomness: Randomness) -> IntArray:
        found = sharp_discovery.create_head_list(users, parameters, randomness)
        if found.choice is None or found.choice.branch != branch:
            raise BrokenInvariantError(
                "chosen users did not lead to the branch they were chosen for"
            )
        return _values(len(users.counts), found.head_list, found.values)

    return release


def _values(records: int, head_list: HeadList, values: IntArray | None) -> IntArray:
    """Return the value of every record by its number; 0 where only names are released."""
    released = np.full(records, UNRELEASED, dtype=np.int64)
    numbers = [number_of(listed) for listed in head_list.records()]
    released[numbers] = 0 if values is None else values
    return released


def _swaps(least: int) -> list[Swap]:
    """Return the four swaps that cover all others (core/certificate/swap_divergence.py)."""
    return [
        Swap(removed=removed, added=added) for removed in (1, least) for added in (0, least - 1)
    ]


def _name(swap: Swap) -> str:
    return f"a user moves from a record of {swap.removed} users to one of {swap.added}"


def _around(swap: Swap, unit: int = 1) -> Edges:
    """Divide values where the ratio of Laplace noise changes: at the two true values."""
    n, m = swap.removed * unit, swap.added * unit
    return (n - unit + 1, n), (m + 1, m + unit)


def _by_deviations(swap: Swap, sigma: int) -> Edges:
    """Divide values by deviations of Gaussian noise, whose ratio changes everywhere."""
    steps = [k * sigma // 2 for k in range(-5, 6)]
    middle = UNIT // 2
    return (
        tuple(swap.removed * UNIT - middle + step for step in steps),
        tuple(swap.added * UNIT + middle + step for step in steps),
    )


def _list_of_pairs(mechanism: LocalAlgMechanism | SubsetSelectionMechanism, pairs: int) -> HeadList:
    return HeadList.of(
        [record(number) for number in range(2 * pairs)], mechanism=mechanism, private=False
    )
