"""Search for the constants of the Gaussian branch, in floats: it suggests, and proves nothing.

The δ of an exchange of one user is computed as in create_head_list/PRIVACY.md, without the cost of
the lattice. A user keeps k records, j of them kept by others too. Of all pairs of such holdings few
are the worst ones: the search begins with two pairs, and adds the worst of all others until no
pair needs more than δ.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import erfc, exp, expm1, inf, log1p, sqrt
from typing import NamedTuple

from blender_dp.core.curator.worst_exchange import worst_exchange
from blender_dp.core.exact.lattice import UNIT

_SQRT2 = sqrt(2)
_STEPS = 60
"""Halvings of an interval; enough for all digits of a float."""
_MOST_PAIRS = 40
"""Most pairs that the search adds."""
_TOLERANCE = 1e-12
"""Relative excess of a δ that is left to the margins of the exact plan."""
_FARTHEST = 64.0
"""Largest threshold, in deviations above a whole user: the tail there is below 1e-890."""
_LARGEST_MU = 32.0
_LARGEST_EPSILON = 128.0
_GOLDEN = (sqrt(5) - 1) / 2


class _Holding(NamedTuple):
    """A user who keeps k records, j of them kept by others too."""

    kept: int
    shared: int


_Pair = tuple[_Holding, _Holding]


def suggested_mu(
    epsilon: Fraction, delta: Fraction, *, most: int, shares: Sequence[Fraction]
) -> Fraction | None:
    """Search μ of all three releases whose noise has the lowest threshold; None if there is none.

    Args:
        epsilon: ε less the cost of the lattice.
        delta: δ, likewise.
        most: m, the most records of a user that get a weight.
        shares: The shares of μ² for discovery, estimation and scalars.
    """
    if epsilon <= 0:
        return None
    search, parts = _Search(float(epsilon), float(delta), most), [float(share) for share in shares]
    while True:
        mu = search.best_mu(parts)
        if mu <= 0:
            return None
        if not search.found_worse(_sigmas(mu, parts)):
            return Fraction(mu)


def lowest_threshold(
    epsilon: Fraction, delta: Fraction, *, most: int, sigmas: Sequence[int]
) -> Fraction | None:
    """Search the lowest threshold at which noise of ``sigmas`` keeps (ε, δ); None if none does.

    Threshold and deviations are in lattice units; the other arguments are those of
    :func:`suggested_mu`.
    """
    search, widths = _Search(float(epsilon), float(delta), most), [s / UNIT for s in sigmas]
    while search.found_worse(widths):
        pass
    tau = search.threshold(widths)
    return None if tau == inf else Fraction(tau) * UNIT


def presence_epsilon(delta: Fraction, *, most: int, sigmas: Sequence[int], threshold: int) -> float:
    """Search the least ε at which no user whose data are added or removed needs more than δ.

    The arguments are those of the plan, in lattice units.
    """
    widths, tau, allowed = [s / UNIT for s in sigmas], threshold / UNIT, float(delta)
    fixed = 1 / widths[1] ** 2 + 2 / widths[2] ** 2
    cases = [
        (pair, sqrt(one.shared / one.kept / widths[0] ** 2 + fixed))
        for one in _front(most, widths[0], tau)
        for stays in [_none_released(one, widths[0], tau)]
        for pair in ((stays, 0.0), (0.0, stays))
    ]
    low, high = 0.0, _LARGEST_EPSILON
    for _ in range(_STEPS // 2):
        middle = (low + high) / 2
        within = all(_needed(middle, mu, *pair) <= allowed for pair, mu in cases)
        low, high = (low, middle) if within else (middle, high)
    return high


class _Search:
    """The exchanges that were found to need most, and the thresholds that they allow."""

    def __init__(self, epsilon: float, delta: float, most: int) -> None:
        self._epsilon, self._delta, self._most = epsilon, delta, most
        shared, own = _Holding(1, 1), _Holding(most, 0)
        self._pairs = [(shared, shared), (own, shared)]

    def found_worse(self, sigmas: Sequence[float]) -> bool:
        """Add the worst pair at the threshold of the known ones, if it needs more than δ."""
        tau = self.threshold(sigmas)
        if tau == inf or len(self._pairs) > _MOST_PAIRS:
            return False
        worst, pair = self._worst(sigmas, tau)
        if worst <= self._delta * (1 + _TOLERANCE) or pair in self._pairs:
            return False
        self._pairs.append(pair)
        return True

    def best_mu(self, shares: Sequence[float]) -> float:
        """Search the μ with the lowest threshold, up to the largest that keeps the promise at all.

        Above the largest, even users all of whose records others have need more than δ.
        """
        low, high = 0.0, _LARGEST_MU
        for _ in range(_STEPS):
            middle = (low + high) / 2
            within = _curve(self._epsilon, middle) <= self._delta
            low, high = (middle, high) if within else (low, middle)
        largest = low

        def threshold(mu: float) -> float:
            return self.threshold(_sigmas(mu, shares)) if mu > 0 else inf

        low, high = 0.0, largest
        for _ in range(_STEPS):
            first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            low, high = (low, second) if threshold(first) <= threshold(second) else (first, high)
        middle = (low + high) / 2
        return middle if threshold(middle) < threshold(largest) else largest

    def threshold(self, sigmas: Sequence[float]) -> float:
        """Return the lowest threshold at which no known pair needs more than δ; else infinity."""
        low, high = 0.0, 1 + _FARTHEST * sigmas[0]
        needed = [self._needed_by(pair, sigmas) for pair in self._pairs]
        if any(of(high) > self._delta for of in needed):
            return inf
        for _ in range(_STEPS):
            middle = (low + high) / 2
            # A pair that needs no more than δ here needs no more at any higher threshold.
            more = [of for of in needed if of(middle) > self._delta]
            low, high, needed = (middle, high, more) if more else (low, middle, needed)
        return high

    def _needed_by(self, pair: _Pair, sigmas: Sequence[float]) -> Callable[[float], float]:
        """Return the δ of a pair as a function of the threshold."""
        before, after = pair
        mu = sqrt(_moved(before, after) / sigmas[0] ** 2 + _fixed(sigmas))

        def needed(tau: float) -> float:
            first, second = (_none_released(one, sigmas[0], tau) for one in pair)
            return _needed(self._epsilon, mu, first, second)

        return needed

    def _worst(self, sigmas: Sequence[float], tau: float) -> tuple[float, _Pair]:
        """Return the largest δ of all pairs, and its pair."""
        front = _front(self._most, sigmas[0], tau)
        stays = [_none_released(one, sigmas[0], tau) for one in front]
        fixed = _fixed(sigmas)

        def bound(before: range, after: range) -> float:
            moved = _moved(front[before[0]], front[after[0]])
            mu = sqrt(moved / sigmas[0] ** 2 + fixed)
            return _needed(self._epsilon, mu, stays[before[-1]], stays[after[-1]])

        worst, before, after = worst_exchange(bound, len(front))
        return worst, (front[before], front[after])


def _sigmas(mu: float, shares: Sequence[float]) -> list[float]:
    return [_SQRT2 / (mu * sqrt(share)) for share in shares]


def _fixed(sigmas: Sequence[float]) -> float:
    """Return the part of μ² that all exchanges have: of sums and scalars."""
    return 2 / sigmas[1] ** 2 + 2 / sigmas[2] ** 2


def _moved(before: _Holding, after: _Holding) -> float:
    """Return the squared length of the weights on shared records, of both sides."""
    return before.shared / before.kept + after.shared / after.kept


def _none_released(holding: _Holding, sigma: float, tau: float) -> float:
    """Return ln(1 - a), a the probability that a record of one's own is released."""
    tail = erfc((tau - holding.kept**-0.5) / sigma / _SQRT2) / 2
    return (holding.kept - holding.shared) * log1p(-tail) if tail < 1 else -inf


def _front(most: int, sigma: float, tau: float) -> list[_Holding]:
    """Return the holdings that no other one exceeds both in shared weight and in risk."""
    every = (_Holding(k, j) for k in range(1, most + 1) for j in range(k + 1))
    risks = [(-one.shared / one.kept, _none_released(one, sigma, tau), one) for one in every]
    front: list[_Holding] = []
    least = inf
    for _, stays, holding in sorted(risks):
        if stays < least:
            front.append(holding)
            least = stays
    return front


def _needed(epsilon: float, mu: float, first: float, second: float) -> float:
    """Return δ of an exchange, by ln(1 - a) before it and after it."""
    if -inf in (first, second):
        return 1.0
    return -expm1(first) + exp(first) * _curve(epsilon + second - first, mu)


def _curve(epsilon: float, mu: float) -> float:
    """Return δ(ε) of Gaussian noise; 1 for ε ≤ 0, where the exact proof does not look either."""
    if epsilon <= 0 or mu <= 0:
        return float(epsilon <= 0)
    first, second = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return erfc(first / _SQRT2) / 2 - exp(epsilon) * erfc(second / _SQRT2) / 2
