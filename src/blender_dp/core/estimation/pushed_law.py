"""Tail of the difference "clients less opt-in users" of many items when there are no fake reports.

The opt-in estimate mixes D and E as the blend does: D has a fraction of E's noise. D was selected
for being large, which raises the opt-in estimate. That can only hide a push by clients, never cause
a false alarm.

Tails are saddlepoint approximations (Lugannani and Rice, "Saddle point approximation for the
distribution of the sum of independent random variables", 1980) of the sum of a normal part, of the
noise as it is drawn, and of the number of opt-in users with the item, which is Poisson: numbers far
below the mean are much rarer than under a normal distribution. They are precise to a few per cent
far out, where Chernoff's inequality is a factor of ten too large.
"""

from dataclasses import dataclass
from math import erfc, exp, inf, pi, sqrt

import numpy as np

from blender_dp.core.head_list.cells import FloatArray, IntArray

_HALVINGS = 60
_NEAR = 0.3
"""Below this number of standard errors the tail is taken as one half."""
_NO_NOISE = 500.0
"""Slope above which the noise is zero in floats."""
_erfc = np.vectorize(erfc, otypes=[float])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PushedLaw:
    """Noise of many items; a piece is one cell's noise in one item, a query has several."""

    normal_variance: FloatArray
    """By item: variance of clients and of Gaussian noise."""
    sample_variance: FloatArray
    """By item: variance of sampling opt-in users, each of whom adds ``share`` or nothing."""
    share: FloatArray
    item: IntArray
    """By piece: which item it belongs to."""
    value_weight: FloatArray
    """By piece: the weight of D, whose noise is two-sided geometric with ``slopes``."""
    sum_scale: FloatArray
    """By piece: the scale b of the Laplace noise that E brings, times its weight."""
    slopes: tuple[float, float] | None
    """(s_R, s_L) of D's noise: e^(-s_R·y) upwards, e^(s_L·y) downwards; None if it is Gaussian."""

    @property
    def deviation(self) -> FloatArray:
        """The standard deviations."""
        return np.sqrt(self._cumulants(np.zeros(len(self.normal_variance)))[2])

    def tails(self, t: FloatArray) -> FloatArray:
        """Return the probability that chance makes each difference ≥ ``t``; 1 for small ones."""
        asked = np.maximum(t, 0.0)
        low = np.zeros_like(asked)
        high = np.minimum(self._steepest(), asked / np.maximum(self.normal_variance, 1e-300))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self._cumulants(middle)[1] < asked
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.where(t > _NEAR * self.deviation, self._tails_at(low)[1], 1.0)

    def critical(self, level: FloatArray | float) -> FloatArray:
        """Return the differences that chance reaches with probability ``level`` (below a half)."""
        low = np.zeros_like(self.normal_variance)
        high = np.minimum(self._steepest(), 60 / np.sqrt(self.normal_variance))
        near = _NEAR * self.deviation
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            t, tail = self._tails_at(middle)
            above = (tail > level) | (t < near)
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return self._cumulants(low)[1]

    def _tails_at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the differences whose saddlepoint is ``theta``, and their tails."""
        k, t, curvature = self._cumulants(theta)
        r = np.sqrt(np.maximum(2 * (theta * t - k), 1e-300))
        u = np.maximum(theta * np.sqrt(curvature), 1e-300)
        density = np.exp(-(r**2) / 2) / sqrt(2 * pi)
        tail = _erfc(r / sqrt(2)) / 2 + density * (1 / u - 1 / r)
        return t, np.clip(tail, 0.0, 1.0)

    def _steepest(self) -> FloatArray:
        """Return the slopes at which a moment generating function ceases to exist."""
        per_piece = 1 / np.maximum(self.sum_scale, 1e-300)
        if self.slopes is not None:
            per_piece = np.minimum(
                per_piece, min(self.slopes[1], _NO_NOISE) / np.maximum(self.value_weight, 1e-300)
            )
        steepest = np.full(len(self.normal_variance), inf)
        np.minimum.at(steepest, self.item, per_piece)
        return steepest * (1 - 1e-9)

    def _cumulants(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the cumulant generating function by item, and its two derivatives."""
        at = theta[self.item]
        c2 = self.sum_scale**2
        rest = 1 - c2 * at**2
        pieces = [-np.log(rest), 2 * c2 * at / rest, 2 * c2 * (2 - rest) / rest**2]
        if self.slopes is not None:
            w = self.value_weight
            of_values = _value_cumulants(w * at, self.slopes)
            pieces = [
                piece + w**order * part
                for order, (piece, part) in enumerate(zip(pieces, of_values, strict=True))
            ]
        items = len(self.normal_variance)
        k, k1, k2 = (np.bincount(self.item, piece, minlength=items) for piece in pieces)
        v = self.normal_variance
        c, fewer = self.share, np.expm1(-self.share * theta)
        rate = self.sample_variance / c**2
        return (
            k + v * theta**2 / 2 + rate * (fewer + c * theta),
            k1 + v * theta - rate * c * fewer,
            k2 + v + rate * c**2 * (1 + fewer),
        )


def _value_cumulants(
    eta: FloatArray, slopes: tuple[float, float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the cumulants of minus D's noise around its mean: Pr[y] ∝ e^(-s_R·y) or e^(s_L·y)."""
    up, down = (min(slope, _NO_NOISE) for slope in slopes)
    start, mean, _ = _log_moment(np.zeros(1), up, down)
    log_moment, first, second = _log_moment(eta, up, down)
    return log_moment - start - eta * mean, first - mean, second


def _log_moment(
    eta: FloatArray, up: float, down: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    a, b = np.exp(-up - eta), np.exp(eta) * exp(-down)
    total = 1 / (1 - a) + b / (1 - b)
    first = (b / (1 - b) ** 2 - a / (1 - a) ** 2) / total
    second = (a * (1 + a) / (1 - a) ** 3 + b * (1 + b) / (1 - b) ** 3) / total
    return np.log(total), first, second - first**2
