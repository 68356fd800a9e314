"""Plan of the Gaussian branch: the width of the noise and the threshold of released sums.

Three releases share one μ: noisy weights of records (discovery), noisy shares of cells
(estimation) and two noisy scalars. A user's part of each is a vector without negative entries, of
norm at most 1 (scalars: two numbers from 0 to 1), so exchanging the user moves it by at
most √2. Noise of σ_i = √2/(μ·√share_i), shares adding up to 1, makes all of them together μ-GDP.

:mod:`~blender_dp.core.curator.gaussian_search` suggests a plan in floats. The plan itself is in
integers and fractions, and is used only if :func:`is_private` proves that it keeps its promise.
The proof is in create_head_list/PRIVACY.md, "sharp, many records per user".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from heapq import heapify, heappop, heappush
from math import ceil, inf, isqrt
from typing import NamedTuple

from blender_dp.core.curator.budget import (
    ESTIMATION_SHARE,
    MOST_CANDIDATES,
    MOST_RECORDS,
    SCALAR_SHARE,
)
from blender_dp.core.curator.gaussian_search import lowest_threshold, suggested_mu
from blender_dp.core.curator.worst_exchange import parts, worst_exchange
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

_MOST_KEPT = 100
"""Largest m: the number of exchanges to compare grows with its fourth power."""
_BITS = 512
"""Bits of numbers close to 1: enough for the smallest δ."""
_ROOT_BITS = 96
"""Bits after the point of a square root that is rounded up."""
_ONE = 1 << 192
"""An ε is rounded down to a multiple of 1/this before its curve is computed."""
_MARGINS = tuple(Fraction(1, 1 << bits) for bits in (40, 32, 24, 16, 12, 8))
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

    @property
    def sigmas(self) -> tuple[int, int, int]:
        """σ of discovery, of estimation and of the scalars."""
        return self.discovery_sigma, self.estimation_sigma, self.scalar_sigma

    @property
    def mu(self) -> Fraction:
        """μ of all three releases together, rounded up: the largest that an exchange can reach."""
        parts = (Fraction(2 * UNIT**2, sigma**2) for sigma in self.sigmas)
        return _root(sum(parts, Fraction(0)))


class _Holding(NamedTuple):
    """One side of an exchange: the records of a user who keeps k of them, j also kept by others."""

    stays: Fraction
    """Lower bound of the probability that none of the k - j other records is released."""
    shared: int
    """Squared length of the user's weights on the j records."""


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
    # The proof gives up where records of one's own are released with a probability of 1 - e^(-ε) or
    # more (:func:`_exchange_delta`). A plan that keeps a smaller δ releases none so often.
    for kept in (delta, min(delta, epsilon / (1 + epsilon) / 2)):
        plan = _proved(epsilon, delta, kept=kept, most=most, shares=shares)
        if plan is not None:
            return plan
    raise BrokenInvariantError("a plan for Gaussian noise could not be proved")


def _proved(
    epsilon: Fraction, delta: Fraction, *, kept: Fraction, most: int, shares: Sequence[Fraction]
) -> GaussianPlan | None:
    """Return a plan that keeps (ε, kept) by proof; None if none was found."""
    # The search works with what the lattice leaves of the promise.
    left = min(epsilon, Fraction(MOST_EPSILON)) - LATTICE_SLACK
    allowed = kept / (1 + LATTICE_SLACK)
    mu = suggested_mu(left, allowed, most=most, shares=shares)
    if mu is None or min(shares) * mu**2 * WIDEST_SIGMA**2 <= 2 * UNIT**2:
        raise _too_small(epsilon, delta)
    for margin in _MARGINS:
        sigmas = [
            _rounded_up_root(2 * UNIT**2 / ((mu * (1 - margin)) ** 2 * share)) for share in shares
        ]
        tau = lowest_threshold(left, allowed, most=most, sigmas=sigmas)
        if tau is None:
            continue
        plan = GaussianPlan(
            epsilon=epsilon,
            delta=delta,
            most=most,
            discovery_sigma=sigmas[0],
            threshold=ceil(tau * (1 + margin)),
            estimation_sigma=sigmas[1],
            scalar_sigma=sigmas[2],
        )
        if is_private(plan):
            return plan
    return None


def is_private(plan: GaussianPlan) -> bool:
    """Prove the plan: every condition of PRIVACY.md, with pessimistic rounding."""
    return fits_lattice(plan) and total_delta(plan) <= plan.delta


def fits_lattice(plan: GaussianPlan) -> bool:
    """Tell whether the bounds on what the lattice costs hold for the plan."""
    return min(plan.sigmas) >= LEAST_SIGMA and touched(plan.most) <= TOUCHED


def touched(most: int) -> int:
    """Return the largest number of noisy sums that one exchange of a user moves.

    2m records in discovery; every cell of the list: each record, its query's ⋆, and ⟨⋆,⋆⟩; and two
    scalars.
    """
    return 2 * most + (2 * MOST_CANDIDATES + 1) + 2


@cache  # cached: computed to prove a plan, and again to certify it
def total_delta(plan: GaussianPlan) -> Fraction:
    """Return the δ that the plan needs at its ε, rounded up: the largest over all exchanges.

    :mod:`~blender_dp.core.curator.worst_exchange` says which exchanges it looks at.
    """
    front = _front(plan.most, plan.discovery_sigma, plan.threshold)
    fixed = sum(Fraction(2 * UNIT**2, sigma**2) for sigma in plan.sigmas[1:])

    def bound(before: range, after: range) -> Fraction:
        shared = front[before[0]].shared + front[after[0]].shared
        mu = _root(Fraction(shared, plan.discovery_sigma**2) + fixed)
        return _exchange_delta(plan.epsilon, mu, front[before[-1]].stays, front[after[-1]].stays)

    worst, _, _ = worst_exchange(bound, len(front))
    return worst


def presence_delta(plan: GaussianPlan, epsilon: Fraction) -> Fraction:
    """Return the δ that the plan needs at ``epsilon`` if a user is added or removed, rounded up.

    One side of the exchange is then a user who gives nothing: no record of one's own, no shared
    one, no shares; PRIVACY.md, "Added or removed".
    """
    fixed = Fraction(UNIT**2, plan.estimation_sigma**2) + Fraction(
        2 * UNIT**2, plan.scalar_sigma**2
    )
    front = _front(plan.most, plan.discovery_sigma, plan.threshold)

    def bound(one: range, *, removed: bool) -> Fraction:
        mu = _root(Fraction(front[one[0]].shared, plan.discovery_sigma**2) + fixed)
        stays = front[one[-1]].stays, Fraction(1)
        return _exchange_delta(epsilon, mu, *(stays if removed else stays[::-1]))

    every = range(len(front))
    ranges = [(-bound(every, removed=way), way, 0, every) for way in (False, True)]
    heapify(ranges)
    while True:
        negative, removed, _, one = heappop(ranges)
        if len(one) == 1:
            return -negative
        for part in parts(one, every[-1]):
            heappush(ranges, (-bound(part, removed=removed), removed, part[0], part))


def _exchange_delta(
    epsilon: Fraction, mu: Fraction, stays: Fraction, stays_after: Fraction
) -> Fraction:
    """Return a + (1-a)·δ₁(ε + ln(1-b) - ln(1-a)), rounded up; PRIVACY.md, steps 2 to 4.

    Args:
        epsilon: ε.
        mu: μ of the sums that the exchange moves.
        stays: 1 - a, the probability that no record of one's own is released before the exchange.
        stays_after: 1 - b, the same after it.
    """
    if min(stays, stays_after) <= 0:
        return Fraction(1)
    logarithm, _ = ln_enclosure(stays_after / stays, _BITS).ends()
    left = min(min(epsilon, Fraction(MOST_EPSILON)) + logarithm, Fraction(MOST_EPSILON))
    left -= LATTICE_SLACK
    if left <= 0:
        return Fraction(1)
    gaussian = gaussian_delta(mu, Fraction(left.numerator * _ONE // left.denominator, _ONE))
    return 1 - stays + stays * (1 + LATTICE_SLACK) * (gaussian + FAR_DELTA)


@cache
def _front(most: int, sigma: int, threshold: int) -> list[_Holding]:
    """Return the holdings that no other one exceeds in both numbers; most shared first."""
    holdings = []
    for k, weight in enumerate(weights(most).tolist()[1:], start=1):
        stays = _own_record_stays(weight, sigma, threshold)
        one = Enclosure.of(stays, stays, _BITS)
        holdings += [((k - own) * weight**2, one.power(own).low) for own in range(k + 1)]
    front: list[_Holding] = []
    least = inf
    for shared, low in sorted(holdings, key=lambda both: (-both[0], both[1])):
        if low < least:
            front.append(_Holding(stays=Fraction(low, 1 << _BITS), shared=shared))
            least = low
    return front


def _own_record_stays(weight: int, sigma: int, threshold: int) -> Fraction:
    """Return a lower bound of the probability that a record of one user is not released.

    It is released by noise ≥ τ + 1 - weight. Every value of the discrete noise is at most
    1/(1 - 1/(24σ²)) times as likely as under real-valued noise rounded to integers.
    """
    excess = Fraction(24 * sigma**2, 24 * sigma**2 - 1)
    _, tail = normal_tail(Fraction(2 * (threshold - weight) + 1, 2 * sigma), 64).ends()
    return max(1 - excess * tail, Fraction(0))


def _require_ranges(epsilon: Fraction, delta: Fraction, most: int) -> None:
    if epsilon <= 0:
        raise ParameterError("epsilon", "above 0", float(epsilon))
    if not LEAST_DELTA <= delta < 1:
        raise ParameterError("delta", "at least 1e-100 and below 1", float(delta))
    if not 1 <= most <= _MOST_KEPT:
        raise ParameterError("most", f"from 1 to {_MOST_KEPT} records per user", most)


def _too_small(epsilon: Fraction, delta: Fraction) -> ParameterError:
    rule = f"so large that noise fits 64 bits (δ is {float(delta)})"
    return ParameterError("epsilon", rule, float(epsilon))


def _rounded_up_root(square: Fraction) -> int:
    """Return an integer of at least √square, at most one above the least."""
    return isqrt(ceil(square)) + 1


def _root(square: Fraction) -> Fraction:
    """Return √square, rounded up."""
    return Fraction(_rounded_up_root(square * (1 << 2 * _ROOT_BITS)), 1 << _ROOT_BITS)
