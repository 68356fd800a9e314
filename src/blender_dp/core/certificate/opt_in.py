"""Privacy cost of each opt-in release, computed from public parameters.

Noise and thresholds come from the functions that the steps draw with, never from a second plan, so
that the account covers the noise that was used.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import floor
from typing import assert_never

from blender_dp.core.certificate.added_user import count_delta, name_delta, weight_delta
from blender_dp.core.certificate.certificate import Account, Constant, Part, least_epsilon
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import Branch, Budget, Release, Spending
from blender_dp.core.curator.gaussian_plan import GaussianPlan, fits_lattice, total_delta
from blender_dp.core.curator.gaussian_search import presence_epsilon
from blender_dp.core.curator.laplace_plan import LaplacePlan, enumerated_delta
from blender_dp.core.curator.list_choice import ONE_USER, SENSITIVITY, list_noise
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.enclosure import exp_enclosure
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.parameters import Parameters, exact

_BITS = 256
_MODEL = "trusted curator"
_COARSE_STEPS = 1 << 14
"""Resolution of an upper bound that takes long to compute."""


def paper_accounts(parameters: Parameters, _: Branch | None) -> list[Account]:
    """Return the accounts of ``paper``: users who find the list, users who are counted."""
    return [_finders(parameters), _counted(parameters)]


def sharp_accounts(parameters: Parameters, branch: Branch | None) -> list[Account]:
    """Return the account of ``sharp``, whose releases all use every opt-in user.

    Args:
        parameters: The promise and the tuning parameters.
        branch: The branch of discovery that was taken; None if it is not known, which gives one
            account per possible branch.
    """
    if branch is not None:
        return [_everybody(parameters, branch, "opt-in users")]
    if parameters.one_record_each:
        return [_everybody(parameters, "laplace", "opt-in users")]
    return [
        _everybody(parameters, "laplace", "opt-in users, if one record of each is taken"),
        _everybody(parameters, "gauss", "opt-in users, if many records of each are taken"),
    ]


def _finders(parameters: Parameters) -> Account:
    """Return the account of the users who find the list (Fig. 3); no other release uses them."""
    epsilon, delta = exact(parameters.epsilon), exact(parameters.delta)

    def spent(at: Fraction) -> Fraction:
        return paper_discovery.enumerated_delta(parameters, at)

    m_o = parameters.records_per_optin_user
    part = Part(
        release=Release.DISCOVERY.value,
        method="The divergence of the threshold rule over all swaps of a user's record."
        if m_o == 1
        else "The probability that a record of one user is released, at most (PRIVACY.md, step 2).",
        promised_epsilon=epsilon,
        promised_delta=delta,
        epsilon=least_epsilon(spent, delta, epsilon),
        delta=spent(epsilon),
        is_tight=m_o == 1,
        constants={
            "records_per_user": m_o,
            "noise_scale": paper_discovery.name_noise(parameters).scale,
            "least_released": paper_discovery.least_passing_count(parameters),
        },
        add_remove_epsilon=least_epsilon(partial(name_delta, parameters), delta, epsilon),
    )
    return _account("opt-in users whose records found the list", parameters, [part])


def _counted(parameters: Parameters) -> Account:
    """Return the account of the users who are counted (Fig. 4); no other release uses them."""
    part = _noise_part(
        Spending(release=Release.SUMS, epsilon=exact(parameters.epsilon), delta=Fraction(0)),
        paper_optin.sum_noise(parameters),
        sensitivity=2 * parameters.records_per_optin_user,
        of_one=parameters.records_per_optin_user,
    )
    return _account("opt-in users whose records were counted", parameters, [part])


def _everybody(parameters: Parameters, branch: Branch, to: str) -> Account:
    """Return the account of users whose data enter every release of ``sharp``, line by line."""
    budget = Budget.of(parameters)
    parts = [_line(line, budget) for line in budget.ledger(branch)]
    return _account(to, parameters, parts)


@cache  # cached: computed before a run, at its end and for its release
def _line(line: Spending, budget: Budget) -> Part:
    match line.release:
        case Release.LIST:
            of_list = list_noise(budget)
            return _noise_part(line, of_list, sensitivity=SENSITIVITY, of_one=ONE_USER)
        case Release.BRANCH:
            of_choice = sharp_discovery.branch_noise(budget)
            return _noise_part(line, of_choice, sensitivity=UNIT, of_one=UNIT)
        case Release.GAUSSIAN:
            return _gaussian(line, _drawn_plan(line, budget))
        case Release.DISCOVERY:
            return _counts(line, count_plan(budget))
        case Release.SUMS:
            noise, _ = sharp_optin.noises("laplace", budget)
        case Release.SCALARS:
            _, noise = sharp_optin.noises("laplace", budget)
        case _:
            assert_never(line.release)
    if not isinstance(noise, DiscreteLaplace):
        raise BrokenInvariantError("the Laplace branch has Laplace noise")
    of_one = UNIT if line.release is Release.SUMS else 2 * UNIT
    return _noise_part(line, noise, sensitivity=2 * UNIT, of_one=of_one)


def _noise_part(line: Spending, noise: DiscreteLaplace, *, sensitivity: int, of_one: int) -> Part:
    """Return the cost of noise on a sum, exactly: Δ/b, if a swap of a user moves it by Δ.

    Args:
        line: The share of the promise.
        noise: The noise.
        sensitivity: Δ of a swap.
        of_one: What one user adds at most: Δ of an addition or removal.
    """
    spent = sensitivity / noise.scale
    excess = max(spent - line.epsilon, Fraction(0))
    # Where no ratio exceeds e^spent, δ(ε) is at most 1 - e^(ε - spent).
    beyond = 1 - exp_enclosure(-excess, _BITS).ends()[0] if excess else Fraction(0)
    return Part(
        release=line.release.value,
        method="The largest change of the sums if one user is swapped, divided by the noise scale.",
        promised_epsilon=line.epsilon,
        promised_delta=line.delta,
        epsilon=spent,
        delta=beyond,
        is_tight=not excess,
        constants={"sensitivity": sensitivity, "noise_scale": noise.scale},
        add_remove_epsilon=of_one / noise.scale,
    )


def _counts(line: Spending, plan: LaplacePlan) -> Part:
    def spent(at: Fraction) -> Fraction:
        return enumerated_delta(plan, at)

    return Part(
        release=line.release.value,
        method="The divergence of the released counts over all swaps of a user's record.",
        promised_epsilon=line.epsilon,
        promised_delta=line.delta,
        epsilon=least_epsilon(spent, line.delta, line.epsilon),
        delta=spent(line.epsilon),
        is_tight=True,
        constants={
            "least_released": plan.threshold,
            "right_slope": plan.noise.right,
            "left_slope": plan.noise.left,
        },
        add_remove_epsilon=least_epsilon(partial(count_delta, plan), line.delta, line.epsilon),
    )


def _drawn_plan(line: Spending, budget: Budget) -> GaussianPlan:
    """Return the plan of discovery, with the deviations that sums and scalars are drawn with."""
    of_sums, of_scalars = sharp_optin.noises("gauss", budget)
    if not (isinstance(of_sums, DiscreteGaussian) and isinstance(of_scalars, DiscreteGaussian)):
        raise BrokenInvariantError("the Gaussian branch has Gaussian noise")
    return replace(
        weight_plan(budget),
        epsilon=line.epsilon,
        delta=line.delta,
        estimation_sigma=floor(of_sums.sigma),
        scalar_sigma=floor(of_scalars.sigma),
    )


def _gaussian(line: Spending, plan: GaussianPlan) -> Part:
    def spent(at: Fraction) -> Fraction:
        return total_delta(replace(plan, epsilon=at)) if fits_lattice(plan) else Fraction(1)

    return Part(
        release=line.release.value,
        method="The divergence of all three over all swaps of a user, by how many of the records "
        "other users have too; an upper bound.",
        promised_epsilon=line.epsilon,
        promised_delta=line.delta,
        epsilon=least_epsilon(spent, line.delta, line.epsilon),
        delta=spent(line.epsilon),
        is_tight=False,
        constants=_gaussian_constants(plan),
        add_remove_epsilon=least_epsilon(
            partial(weight_delta, plan),
            line.delta,
            line.epsilon,
            steps=_COARSE_STEPS,
            near=presence_epsilon(
                line.delta, most=plan.most, sigmas=plan.sigmas, threshold=plan.threshold
            ),
        ),
    )


def _gaussian_constants(plan: GaussianPlan) -> Mapping[str, Constant]:
    return {
        "unit": UNIT,
        "most_records": plan.most,
        "threshold": plan.threshold,
        "discovery_sigma": plan.discovery_sigma,
        "sum_sigma": plan.estimation_sigma,
        "scalar_sigma": plan.scalar_sigma,
    }


def _account(to: str, parameters: Parameters, parts: list[Part]) -> Account:
    return Account(
        to=to,
        model=_MODEL,
        promised_epsilon=exact(parameters.epsilon),
        promised_delta=exact(parameters.delta),
        parts=tuple(parts),
    )
