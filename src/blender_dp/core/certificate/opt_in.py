"""What is released of the opt-in users' data spends so much, from public parameters alone.

Noise and thresholds are asked of the steps that draw with them, never planned a second time: what
is accounted for is what was used.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import floor

from blender_dp.core.certificate.certificate import Account, Constant, Part, least_epsilon
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import Branch, Budget, Spending
from blender_dp.core.curator.gaussian_plan import GaussianPlan, is_private, total_delta
from blender_dp.core.curator.laplace_plan import LaplacePlan, enumerated_delta
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


def opt_in_accounts(parameters: Parameters, branch: Branch | None) -> list[Account]:
    """Return what each group of opt-in users spends.

    Args:
        parameters: The promise and the knobs.
        branch: Which way of discovery was taken; None if it is not known, which gives an account
            for each that may be.
    """
    if parameters.preset == "paper":
        return [_finders(parameters), _counted(parameters)]
    if branch is not None:
        return [_everybody(parameters, branch, "opt-in users")]
    if parameters.one_record_each:
        return [_everybody(parameters, "laplace", "opt-in users")]
    return [
        _everybody(parameters, "laplace", "opt-in users, if one record of each is taken"),
        _everybody(parameters, "gauss", "opt-in users, if many records of each are taken"),
    ]


def _finders(parameters: Parameters) -> Account:
    """Return the account of the users who find the list (Fig. 3); nothing else touches them."""
    epsilon, delta = exact(parameters.epsilon), exact(parameters.delta)

    def spent(at: Fraction) -> Fraction:
        return paper_discovery.enumerated_delta(parameters, at)

    m_o = parameters.records_per_optin_user
    part = Part(
        release="discovery",
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
    )
    return _account("opt-in users whose records found the list", parameters, [part])


def _counted(parameters: Parameters) -> Account:
    """Return the account of the users who are counted (Fig. 4); nothing else touches them."""
    part = _noise_part(
        Spending(release="sums", epsilon=exact(parameters.epsilon), delta=Fraction(0)),
        paper_optin.sum_noise(parameters),
        sensitivity=2 * parameters.records_per_optin_user,
    )
    return _account("opt-in users whose records were counted", parameters, [part])


def _everybody(parameters: Parameters, branch: Branch, to: str) -> Account:
    """Return the account of users who serve every release of ``sharp``, line by line."""
    budget = Budget.of(parameters)
    parts = [_line(line, budget, branch) for line in budget.ledger(branch)]
    return _account(to, parameters, parts)


@cache  # asked before any data is read, at the end of a run and for its release
def _line(line: Spending, budget: Budget, branch: Branch) -> Part:
    if line.release == "choice of the branch":
        return _noise_part(line, sharp_discovery.branch_noise(budget), sensitivity=UNIT)
    if branch == "gauss":
        return _gaussian(line, _drawn_plan(line, budget))
    if line.release == "discovery":
        return _counts(line, sharp_discovery.count_plan(budget))
    of_sums, of_scalars = sharp_optin.noises(branch, budget)
    noise = of_sums if line.release == "sums" else of_scalars
    if not isinstance(noise, DiscreteLaplace):
        raise BrokenInvariantError("the Laplace branch has Laplace noise")
    return _noise_part(line, noise, sensitivity=2 * UNIT)


def _noise_part(line: Spending, noise: DiscreteLaplace, *, sensitivity: int) -> Part:
    """Return what noise on a sum spends that a swap of a user moves by so much: Δ/b, exactly."""
    spent = sensitivity / noise.scale
    excess = max(spent - line.epsilon, Fraction(0))
    # Where no ratio exceeds e^spent, δ(ε) is at most 1 - e^(ε - spent).
    beyond = 1 - exp_enclosure(-excess, _BITS).ends()[0] if excess else Fraction(0)
    return Part(
        release=line.release,
        method="How far a swap of a user moves the sums, over the scale of their noise.",
        promised_epsilon=line.epsilon,
        promised_delta=line.delta,
        epsilon=spent,
        delta=beyond,
        is_tight=not excess,
        constants={"sensitivity": sensitivity, "noise_scale": noise.scale},
    )


def _counts(line: Spending, plan: LaplacePlan) -> Part:
    def spent(at: Fraction) -> Fraction:
        return enumerated_delta(plan, at)

    return Part(
        release=line.release,
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
    )


def _drawn_plan(line: Spending, budget: Budget) -> GaussianPlan:
    """Return the plan of discovery, with the deviations that sums and scalars are drawn with."""
    of_sums, of_scalars = sharp_optin.noises("gauss", budget)
    if not (isinstance(of_sums, DiscreteGaussian) and isinstance(of_scalars, DiscreteGaussian)):
        raise BrokenInvariantError("the Gaussian branch has Gaussian noise")
    return replace(
        sharp_discovery.weight_plan(budget),
        epsilon=line.epsilon,
        delta=line.delta,
        estimation_sigma=floor(of_sums.sigma),
        scalar_sigma=floor(of_scalars.sigma),
    )


def _gaussian(line: Spending, plan: GaussianPlan) -> Part:
    def spent(at: Fraction) -> Fraction:
        return total_delta(replace(plan, epsilon=at))

    return Part(
        release=line.release,
        method="The curve of Gaussian noise at the μ of all three, and the probability that a "
        "record of one user is released; upper bounds of both.",
        promised_epsilon=line.epsilon,
        promised_delta=line.delta,
        epsilon=least_epsilon(spent, line.delta, line.epsilon),
        delta=spent(line.epsilon) if is_private(plan) else Fraction(1),
        is_tight=False,
        constants=_gaussian_constants(plan),
    )


def _gaussian_constants(plan: GaussianPlan) -> Mapping[str, Constant]:
    return {
        "unit": UNIT,
        "most_records": plan.most,
        "threshold": plan.threshold,
        "discovery_sigma": plan.discovery_sigma,
        "sum_sigma": plan.estimation_sigma,
        "scalar_sigma": plan.scalar_sigma,
        "mu": plan.mu,
        "delta_of_own_records": plan.delta_unique,
    }


def _account(to: str, parameters: Parameters, parts: list[Part]) -> Account:
    return Account(
        to=to,
        model=_MODEL,
        promised_epsilon=exact(parameters.epsilon),
        promised_delta=exact(parameters.delta),
        parts=tuple(parts),
    )
