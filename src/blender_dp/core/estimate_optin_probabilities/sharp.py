"""EstimateOptinProbabilities of the ``sharp`` preset: all opt-in users again, over all cells.

Every user's shares f(r), which add up to one, are summed over the cells of the list, so that both
groups estimate the same cells (the paper's flaw F3 has no counterpart). The values released by
discovery are used a second time.

Privacy: with CreateHeadList (ε, δ) in the trusted-curator model; see PRIVACY.md beside this file.
"""

from typing import Protocol

import numpy as np

from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.curator.plans import weight_plan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimation.client_views import choose_query_share
from blender_dp.core.estimation.estimates import Estimate, GroupEstimates
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import OptInUsers


class Noise(Protocol):
    """Exact noise on the lattice."""

    def draw(self, randomness: Randomness) -> int:
        """Draw it once."""
        ...


def use_all_users_in_both_parts(
    users: OptInUsers,
    parameters: Parameters,  # noqa: ARG001 - nothing to choose
) -> tuple[OptInUsers, OptInUsers]:
    """Let every opt-in user find the list and be counted; the two share the budget."""
    return users, users


def estimate_optin_probabilities(
    users: OptInUsers, candidates: Discovery, parameters: Parameters, randomness: Randomness
) -> tuple[HeadList, GroupEstimates]:
    """Return the final head list, and the opt-in users' estimates of its cells.

    Args:
        users: O, all of them.
        candidates: The release of CreateHeadList.
        parameters: ε, δ and M.
        randomness: Source of the noise.
    """
    budget = Budget.of(parameters)
    tally = tally_cells(users, candidates, budget, randomness)
    head_list, most = candidates.head_list, parameters.head_list_size
    if most is not None and most < len(head_list.queries):
        views = tally.views(head_list.cells, budget)
        kept = views.largest_queries(most)
        tally = tally.keeping(head_list.cells, kept, views.whole_list)
        head_list = head_list.keeping(kept.tolist())
    return head_list, opt_in_estimates(tally, head_list, budget)


def tally_cells(
    users: OptInUsers, candidates: Discovery, budget: Budget, randomness: Randomness
) -> OptInTally:
    """Add noise to the sums of the users' shares, and to the two concentration scalars.

    Privacy: shares are not negative and add up to one, so a swap moves the sums by at most 2 in
    L1 and sqrt 2 in L2; each scalar lies from 0 to 1, so a swap moves both by as much.
    """
    if candidates.choice is None or candidates.values is None:
        raise BrokenInvariantError("sharp estimates need what sharp discovery released")
    of_sums, of_scalars = noises(candidates.choice.branch, budget)
    shares = users.share_sums(candidates.head_list, UNIT)
    drawn = np.array([of_sums.draw(randomness) for _ in shares.cells], dtype=np.int64)
    squares = [0, 0]
    if budget.scalar_share:
        squares = [
            exact + of_scalars.draw(randomness)
            for exact in (shares.record_squares, shares.query_squares)
        ]
    return OptInTally(
        users=users.size,
        choice=candidates.choice,
        values=candidates.values,
        sums=shares.cells + drawn,
        folded_cells=0,
        record_squares=squares[0],
        query_squares=squares[1],
        known=candidates.known,
        coverage_gap=candidates.coverage_gap,
    )


def noises(branch: Branch, budget: Budget) -> tuple[Noise, Noise]:
    """Return the noise of a sum and of a scalar, in lattice units."""
    if branch == "gauss":
        plan = weight_plan(budget)
        return DiscreteGaussian(plan.estimation_sigma), DiscreteGaussian(plan.scalar_sigma)
    of_sums = DiscreteLaplace(2 * UNIT / budget.estimation_epsilon)
    if not budget.scalar_share:
        return of_sums, of_sums
    return of_sums, DiscreteLaplace(2 * UNIT / budget.scalar_epsilon)


def estimate_published(
    published: OptInTally | IntArray,
    head_list: HeadList,
    parameters: Parameters,
    users: int,  # noqa: ARG001 - a tally has its number of users
) -> GroupEstimates:
    """Estimate from the tally that was published."""
    if not isinstance(published, OptInTally):
        raise BrokenInvariantError("sharp estimates need a tally")
    return opt_in_estimates(published, head_list, Budget.of(parameters))


def opt_in_estimates(tally: OptInTally, head_list: HeadList, budget: Budget) -> GroupEstimates:
    """Turn released integers into estimates of the opt-in users alone.

    Post-processing. They are for display and for planning the clients' reports. The blend starts
    from the integers again, at the probabilities that both groups give.
    """
    cells = head_list.cells
    views = tally.views(cells, budget)
    p, n_o = views.start(), tally.users
    y, spread = views.combined(n_o * p)
    return GroupEstimates(
        cells=Estimate(probability=y / n_o, variance=views.alone(n_o * p, spread) / n_o**2),
        queries=Estimate(
            probability=cells.by_query(y) / n_o,
            variance=cells.by_query(views.alone(n_o * p, spread)) / n_o**2
            + views.same_user_variance(p),
        ),
        counts=tally.sums,
        total=tally.users * UNIT,
        evidence=views,
        tally=tally,
    )


def choose_mechanism(head_list: HeadList, opt_in: GroupEstimates, clients: int) -> Mechanism:
    """Return subset selection at the full ε, with the best share of clients asked for the query.

    Post-processing: errors are predicted from released numbers only.
    """
    mechanism = head_list.mechanism
    if not isinstance(opt_in.evidence, OptInViews):
        raise BrokenInvariantError("sharp devices need what sharp estimates released")
    if not clients:
        return mechanism
    cells, n_o = head_list.cells, opt_in.evidence.users
    estimators = mechanism.estimators(cells)
    share = choose_query_share(
        opt_in.evidence.among(n_o + clients),
        record_channel=estimators["record"],
        query_channel=estimators["query"],
        clients=clients,
    )
    return SubsetSelectionMechanism(epsilon=mechanism.epsilon, query_share=share)
