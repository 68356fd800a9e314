"""CreateHeadList of the ``sharp`` preset: all opt-in users, a part of their budget.

Users with one record give a count with asymmetric Laplace noise; users with many give a weight
to each of their records, with Gaussian noise. One noisy scalar decides which branch finds more,
unless the campaign declares one record per user. A record that passes is released with its noisy
value, which the estimates use again. A list of queries is found in the same way, from users whose
records have lost their URLs.

Privacy: with the sums and scalars of EstimateOptinProbabilities (ε, δ) in the trusted-curator
model; see PRIVACY.md beside this file and :mod:`~blender_dp.core.curator.budget`.
"""

from collections.abc import Sequence
from math import isqrt

import numpy as np

from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.create_head_list.known_records import release_known, still_listed
from blender_dp.core.create_head_list.released_counts import release_counts
from blender_dp.core.create_head_list.released_weights import class_width, release_weights
from blender_dp.core.curator.budget import MOST_CANDIDATES, MOST_RECORDS, Budget
from blender_dp.core.curator.discovery import BranchChoice, Discovery, branch_of
from blender_dp.core.curator.list_choice import coverage_gap, list_noise, lists_queries
from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.curator.value_law import ValueLaw, value_law
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.lattice import UNIT, weights
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownFrom, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import OptInUsers


def create_head_list(
    users: OptInUsers,
    parameters: Parameters,
    randomness: Randomness,
    known: KnownList = NOTHING_KNOWN,
) -> Discovery:
    """Return the records whose noisy value passes the threshold, with those values.

    Known records need no threshold: they are on the list as long as they may pass it. Of a list of
    queries, all this holds for queries. Known queries say nothing about a list of records.

    Args:
        users: O, all of them.
        parameters: ε, δ, whether one record per user is declared, and what is listed.
        randomness: Source of the noise.
        known: Records that are public already.
    """
    budget = Budget.of(parameters)
    of_queries, difference = choose_list(users, parameters, randomness)
    if of_queries:
        users, known = users.without_urls(), known.without_urls()
    elif known.of_queries:
        known = NOTHING_KNOWN
    choice = choose_branch(users, budget, randomness)
    if choice.branch == "gauss":
        plan = weight_plan(budget)
        sums = users.record_weights(weights(plan.most), class_width(plan))
        passed = release_weights(sums, plan, randomness)
        measured = release_known(sums, known, DiscreteGaussian(plan.discovery_sigma), randomness)
    else:
        counts = count_plan(budget)
        sums = users.record_counts(1)
        passed = release_counts(sums, counts, randomness)
        measured = release_known(sums, known, counts.noise, randomness)
    # A known record has one value, the one without a threshold; another is not looked at.
    law = value_law(choice.branch, budget)
    stay = still_listed(measured, law)
    public = set(known.records)
    found = stay + [(record, value) for record, value in passed if record not in public]
    mechanism = SubsetSelectionMechanism(epsilon=parameters.epsilon, query_share=0.0)
    head_list = HeadList.of(
        [record for record, _ in found],
        mechanism=mechanism,
        private=randomness.is_private and known.private,
        of_queries=of_queries,
    )
    return Discovery(
        head_list=head_list,
        values=_in_order(head_list, found),
        choice=choice,
        known=_sources(head_list, known, users.size, choice, law) if known else None,
        coverage_gap=difference,
    ).keeping(MOST_CANDIDATES)


def choose_list(
    users: OptInUsers, parameters: Parameters, randomness: Randomness
) -> tuple[bool, int | None]:
    """Tell whether queries are listed, and return the noisy number that decided it, if one did.

    Privacy: (ε/200, 0) if it is drawn; see :mod:`~blender_dp.core.curator.list_choice`.
    """
    if parameters.list_of != "auto":
        return parameters.list_of == "queries", None
    budget = Budget.of(parameters)
    largest = users.record_counts(1).largest_by_query()
    together = users.without_urls().record_counts(1).classes()
    noisy = coverage_gap(largest, together, budget) + list_noise(budget).draw(randomness)
    return lists_queries(noisy, budget), noisy


def choose_branch(users: OptInUsers, budget: Budget, randomness: Randomness) -> BranchChoice:
    """Choose the branch by one noisy scalar; no other data is used.

    Privacy: (ε/100, 0). A user adds sqrt(min(k, m)/m), from 0 to 1, for k distinct records, so a
    swap moves the sum by at most 1.
    """
    if not budget.branch_epsilon:
        return branch_of(None, users.size, budget)
    noise = branch_noise(budget)
    noisy = _sum_of_roots(users.distinct_records(MOST_RECORDS)) + noise.draw(randomness)
    return branch_of(noisy, users.size, budget)


def branch_noise(budget: Budget) -> DiscreteLaplace:
    """Return the noise of the scalar that decides, in lattice units; a swap moves it by UNIT."""
    return DiscreteLaplace(UNIT / budget.branch_epsilon)


def users_to_list_a_record(parameters: Parameters) -> int:
    """Return the threshold for users with one record; with many records, more users are needed."""
    return count_plan(Budget.of(parameters)).threshold


def _sum_of_roots(users_by_records: IntArray) -> int:
    """Add up sqrt(k/m) over users with k distinct records, each rounded down to the lattice."""
    m = len(users_by_records) - 1
    return sum(isqrt(UNIT**2 * k // m) * int(number) for k, number in enumerate(users_by_records))


def _in_order(head_list: HeadList, released: Sequence[tuple[Record, int]]) -> IntArray:
    value_of = dict(released)
    return np.array([value_of[record] for record in head_list.discovered()], dtype=np.int64)


def _sources(
    head_list: HeadList, known: KnownList, users: int, choice: BranchChoice, law: ValueLaw
) -> IntArray:
    """Return where each listed record was known from, by the rule of :class:`KnownList`."""
    public = set(known.records)
    rule = ListingRule.of_law(law, users=users, average_weight=choice.average_weight)
    source = known.source(rule.half_listed)
    return np.array(
        [source if record in public else KnownFrom.NOWHERE for record in head_list.discovered()],
        dtype=np.int64,
    )


def require_provable(parameters: Parameters) -> None:
    """Refuse the parameters for which the proofs in PRIVACY.md do not hold."""
    budget = Budget.of(parameters)
    try:
        count_plan(budget)
        if budget.branch_epsilon:
            weight_plan(budget)
    except ParameterError as error:
        raise ParameterError(
            error.name,
            f"such that CreateHeadList can keep the promise with its part of it ({error})",
            getattr(parameters, error.name),
        ) from None
