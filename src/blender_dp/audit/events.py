"""Event with different probabilities for two neighbours, and the ε that it proves.

The event is chosen on some draws and bounded on others, so that the choice does not affect the
error. If
Pr[E] ≥ p and Pr'[E] ≤ q, both with error probability α/2, then a mechanism that is (ε, δ)-private
has p ≤ δ + e^ε·q: an ε below ln((p - δ)/q) is refuted, with error probability at most α.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from blender_dp.audit.clopper_pearson import lower_bound, upper_bound
from blender_dp.core.head_list.cells import BoolArray, FloatArray, IntArray

_CAUTION = 5.0
"""Standard deviations that are subtracted when events are compared; any number is sound."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Event:
    """Set of outcomes, and the neighbour that makes them more likely."""

    outcomes: BoolArray
    is_reversed: bool
    """Whether the second neighbour makes them more likely."""
    promise: float
    """Estimated e^ε that it can prove; events are compared by it."""


def best_event(first: IntArray, second: IntArray, *, delta: float, draws: int) -> Event:
    """Return the set of outcomes that is expected to prove the largest ε.

    Outcomes are added in the order of their likelihood ratio (Neyman and Pearson).

    Args:
        first: Counts of the outcomes of one neighbour.
        second: Counts of the outcomes of the other.
        delta: δ of the promise.
        draws: Number of new draws that will bound the event.
    """
    both = [_best_set(first, second, delta, draws), _best_set(second, first, delta, draws)]
    (outcomes, promise), is_reversed = max(
        zip(both, (False, True), strict=True), key=lambda tried: tried[0][1]
    )
    return Event(outcomes=outcomes, is_reversed=is_reversed, promise=promise)


def _best_set(near: IntArray, far: IntArray, delta: float, draws: int) -> tuple[BoolArray, float]:
    order = np.argsort(-(near + 0.5) / (far + 0.5), kind="stable")
    p, q = _shares(near[order]), np.minimum(_shares(far[order]) + 1 / far.sum(), 1.0)
    p_low = p - _CAUTION * np.sqrt(p * (1 - p) / draws)
    q_high = q + _CAUTION * np.sqrt(q * (1 - q) / draws) + _CAUTION**2 / draws
    score = (p_low - delta) / q_high
    best = int(np.argmax(score))
    chosen = np.zeros(len(near), dtype=np.bool_)
    chosen[order[: best + 1]] = True
    return chosen, float(score[best])


def _shares(counts: IntArray) -> FloatArray:
    shares: FloatArray = np.cumsum(counts) / counts.sum()
    return np.minimum(shares, 1.0)


def shown_epsilon(
    event: Event, first: IntArray, second: IntArray, *, delta: float, alpha: float
) -> float:
    """Return the ε that new draws of both neighbours prove; 0 if they prove nothing."""
    near, far = (second, first) if event.is_reversed else (first, second)
    p = lower_bound(int(near[event.outcomes].sum()), int(near.sum()), alpha / 2)
    q = upper_bound(int(far[event.outcomes].sum()), int(far.sum()), alpha / 2)
    return max(log((p - delta) / q), 0.0) if p > delta else 0.0
