"""Plan of the Gaussian branch: the width of the noise and the threshold of released sums.

Three releases share one μ: noisy weights of records (discovery), noisy shares of cells
(estimation) and two noisy scalars. A user's part of each is a vector without negative entries, of
norm at most 1 (scalars: two numbers from 0 to 1), so exchanging the user moves it by at
most √2. Noise of σ_i = √2/(μ·√share_i), shares adding up to 1, makes all of them together μ-GDP.

A search in floats suggests a plan. The plan itself is in integers and fractions, and is used only
if :func:`is_private` proves that it keeps its promise. The proof is in
create_head_list/PRIVACY.md, "sharp, many records per user".
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, erfc, exp, expm1, isqrt, log1p, sqrt
from statistics import NormalDist

from blender_dp.core.curator.budget import (
    ESTIMATION_SHARE,
    MOST_CANDIDATES,
    MOST_RECORDS,
    SCALAR_SHARE,
)
from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.exact.enclosure import Enclosure, ln_enclosure
from blender_dp.core.exact.lattice import UNIT, weights
from blender_dp.core.exact.normal_tail import gaussian_delta, normal_tail

TOUCHED = 10_000
"""Most noisy sums that one exchange of a user may move, for the proof; see :func:`touched`."""
LEAST_SIGMA = 1 << 26
"""The narrowest noise, in lattice units, for which :data:`LATTICE_SLACK` holds."""
FAR_OUT = 32
"""Deviations beyond which noise is counted as a loss (:data:`FAR_DELTA`)."""
LATTICE_SLACK = Fraction(TOUCHED * (FAR_OUT**2 // 8 + 1), LEAST_SIGMA**2)
"""Bound on the ε of discrete noise beyond that of rounded real-valued noise: below 3e-10."""
FAR_DELTA = Fraction(1, 10**150)
"""Bound on the δ that noise beyond ``FAR_OUT`` adds: 2·TOUCHED·Q(31)·e^(MOST_EPSILON) < 1e-160."""
MOST_EPSILON = 100
"""Largest ε of a plan; a larger one uses the plan of this ε, which implies it."""
LEAST_DELTA = Fraction(1, 10**100)
WIDEST_SIGMA = 1 << 52
"""Widest noise; draws of wider noise might not fit 64 bits."""

_BITS = 512
"""Bits of numbers close to 1: enough for the smallest δ."""
_MARGINS = tuple(Fraction(1, 1 << bits) for bits in (40, 32, 24, 16))
"""Margins by which a suggested μ is lowered and τ is raised until the proof succeeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPlan:
    """Public constants of discovery and estimation with Gaussian noise; sums in lattice units."""

    epsilon: Fraction
    delta: Fraction
    """The promise for all three releases together."""
    most: int
    """m, the most distinct records of a user that get a weight."""
    discovery_sigma: int
    """σ of the noise on a record's sum of weights (σ₁)."""
    threshold: int
    """τ: a noisy sum of weights is released if it is larger."""
    estimation_sigma: int
    """σ of the noise on a cell's sum of shares."""
    scalar_sigma: int
    """σ of the noise on each of the two scalars."""
    mu: Fraction
    """μ, of all three releases together."""
    delta_unique: Fraction
    """δ_t, the part of δ that pays for records which only one user has."""

    @property
    def sigmas(self) -> tuple[int, int, int]:
        """σ of discovery, of estimation and of the scalars."""
        return self.discovery_sigma, self.estimation_sigma, self.scalar_sigma


@cache
def gaussian_plan(
    epsilon: Fraction,
    delta: Fraction,
    *,
    most: int = MOST_RECORDS,
    estimation_share: Fraction = ESTIMATION_SHARE,
    scalar_share: Fraction = SCALAR_SHARE,
) -> GaussianPlan:
    """Return the plan with the lowest threshold that keeps (ε, δ), by a proof in exact arithmetic.

    The part of δ for records that only one user has is a multiple of 1/10: the one that gives the
    lowest threshold.

    Args:
        epsilon: ε of the three releases together.
        delta: δ of the three releases together.
        most: m, the most distinct records of a user that get a weight.
        estimation_share: η, the share of μ² for the shares of cells.
        scalar_share: The share of μ² for the two scalars.
    """
    _require_ranges(epsilon, delta, most)
    shares = (1 - estimation_share - scalar_share, estimation_share, scalar_share)
    if min(shares) <= 0:
        raise BrokenInvariantError("each of the three releases needs a share of the budget")
    mu, delta_unique = _suggestion(epsilon, delta, most, shares)
    for margin in _MARGINS:
        less = mu * (1 - margin)
        sigmas = [_rounded_up_root(2 * UNIT**2 / (less**2 * share)) for share in shares]
        tau = _suggested_threshold(sigmas[0], delta_unique, most)
        plan = GaussianPlan(
            epsilon=epsilon,
            delta=delta,
            most=most,
            discovery_sigma=sigmas[0],
            threshold=ceil(tau * (1 + margin)),
            estimation_sigma=sigmas[1],
            scalar_sigma=sigmas[2],
            mu=less,
            delta_unique=delta_unique,
        )
        if is_private(plan):
            return plan
    raise BrokenInvariantError("a plan for Gaussian noise could not be proved")


def is_private(plan: GaussianPlan) -> bool:
    """Prove the plan: every condition of PRIVACY.md, with pessimistic rounding."""
    return (
        min(plan.sigmas) >= LEAST_SIGMA
        and touched(plan.most) <= TOUCHED
        and sum(Fraction(2 * UNIT**2, sigma**2) for sigma in plan.sigmas) <= plan.mu**2
        and unique_release_probability(plan) <= plan.delta_unique
        and total_delta(plan) <= plan.delta
    )


def touched(most: int) -> int:
    """Return the largest number of noisy sums that one exchange of a user moves.

    2m records in discovery; every cell of the list: each record, its query's ⋆, and ⟨⋆,⋆⟩; and two
    scalars.
    """
    return 2 * most + (2 * MOST_CANDIDATES + 1) + 2


def total_delta(plan: GaussianPlan) -> Fraction:
    """Return the δ that the plan needs at its ε, rounded up.

    It is δ_t plus the δ of the Gaussian noise on records that other users have too. The latter is
    taken at ε + ln(1 - δ_t), for records that only the exchanged user has, minus the cost of the
    lattice.
    """
    logarithm, _ = ln_enclosure(1 - plan.delta_unique, _BITS).ends()
    epsilon = min(plan.epsilon, Fraction(MOST_EPSILON)) + logarithm - LATTICE_SLACK
    if epsilon <= 0:
        return Fraction(1)
    gaussian = gaussian_delta(plan.mu, epsilon) + FAR_DELTA
    return plan.delta_unique + (1 + LATTICE_SLACK) * gaussian


def unique_release_probability(plan: GaussianPlan) -> Fraction:
    """Return a bound on the probability that a record of only one user is released, rounded up.

    The largest over k = 1 .. m, for a user of k records that no other user has: 1 - (1 - p)^k,
    where p is the chance of noise ≥ τ + 1 - ⌊UNIT/√k⌋. It bounds p that every value
    is at most 1/(1 - 1/(24σ²)) times as likely as under real-valued noise rounded to integers.
    """
    sigma, worst = plan.discovery_sigma, Fraction(0)
    excess = Fraction(24 * sigma**2, 24 * sigma**2 - 1)
    for k, weight in enumerate(weights(plan.most).tolist()[1:], start=1):
        _, tail = normal_tail(Fraction(2 * (plan.threshold - weight) + 1, 2 * sigma), 64).ends()
        stays = max(1 - excess * tail, Fraction(0))
        none, _ = Enclosure.of(stays, stays, _BITS).power(k).ends()
        worst = max(worst, 1 - none)
    return worst


def _require_ranges(epsilon: Fraction, delta: Fraction, most: int) -> None:
    if epsilon <= 0:
        raise ParameterError("epsilon", "above 0", float(epsilon))
    if not LEAST_DELTA <= delta < 1:
        raise ParameterError("delta", "at least 1e-100 and below 1", float(delta))
    if not 1 <= most <= TOUCHED // 8:
        raise ParameterError("most", f"from 1 to {TOUCHED // 8} records per user", most)


def _rounded_up_root(square: Fraction) -> int:
    """Return an integer of at least √square, at most one above the least."""
    return isqrt(ceil(square)) + 1


def _suggestion(
    epsilon: Fraction, delta: Fraction, most: int, shares: tuple[Fraction, ...]
) -> tuple[Fraction, Fraction]:
    """Search μ and δ_t with the lowest threshold, in floats, δ_t among tenths of δ."""
    suggestions = []
    for delta_unique in (delta * tenths / 10 for tenths in range(1, 9)):
        mu = _suggested_mu(epsilon, delta, delta_unique)
        if sqrt(2 / min(shares)) * UNIT < mu * WIDEST_SIGMA:
            sigma = sqrt(2 / shares[0]) / mu * UNIT
            tau = _suggested_threshold(sigma, delta_unique, most)
            suggestions.append((tau, Fraction(mu), delta_unique))
    if not suggestions:
        raise ParameterError(
            "epsilon",
            "above δ/10, which records that only one user has may cost, and so large that "
            f"noise fits 64 bits (δ is {float(delta)})",
            float(epsilon),
        )
    _, best, delta_unique = min(suggestions)
    return best, delta_unique


def _suggested_mu(epsilon: Fraction, delta: Fraction, delta_unique: Fraction) -> float:
    """Search the largest μ that keeps the promise, in floats; 0 if there is none."""
    left = float(min(epsilon, Fraction(MOST_EPSILON)) - LATTICE_SLACK) + log1p(-delta_unique)
    allowed = float((delta - delta_unique) / (1 + LATTICE_SLACK))
    if left <= 0:
        return 0.0

    def curve(mu: float) -> float:
        first, second = left / mu - mu / 2, left / mu + mu / 2
        return erfc(first / sqrt(2)) / 2 - exp(left) * erfc(second / sqrt(2)) / 2

    low, high = 0.0, 32.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) <= allowed else (low, middle)
    return low


def _suggested_threshold(sigma: float, delta_unique: Fraction, most: int) -> Fraction:
    """Return max over k of ⌊UNIT/√k⌋ + σ·Φ⁻¹((1 - δ_t)^(1/k)), in floats."""
    normal, logarithm = NormalDist(), log1p(-delta_unique)
    tails = ((k, -expm1(logarithm / k)) for k in range(1, most + 1))
    added = weights(most).tolist()
    return Fraction(max(added[k] - sigma * normal.inv_cdf(tail) for k, tail in tails))
