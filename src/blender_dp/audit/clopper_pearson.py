"""Exact bounds on a probability from counts alone (Clopper and Pearson, 1934).

The binomial distribution is not approximated: its tail is added up term by term, and the terms left
out are bounded from above. So the only error is rounding, which is bounded on the safe side.
"""

from math import exp, lgamma, log, log1p, sqrt

import numpy as np

_ROUNDING = 1e-6
"""Relative rounding error of logarithms of factorials; added to every tail."""
_HALVINGS = 60


def lower_bound(successes: int, trials: int, alpha: float) -> float:
    """Return a probability that is above the true one in at most α of all samples."""
    if successes == 0:
        return 0.0
    low, high = 0.0, successes / trials
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _upper_tail(successes, trials, middle) <= alpha:
            low = middle
        else:
            high = middle
    return low


def upper_bound(successes: int, trials: int, alpha: float) -> float:
    """Return a probability that is below the true one in at most α of all samples."""
    return 1 - lower_bound(trials - successes, trials, alpha)


def _upper_tail(least: int, trials: int, p: float) -> float:
    """Return Pr[X ≥ least] for X binomial, rounded up; for ``least`` at or above the mean."""
    if p == 0:
        return 0.0
    if p == 1:
        return 1.0
    first = (
        lgamma(trials + 1)
        - lgamma(least + 1)
        - lgamma(trials - least + 1)
        + least * log(p)
        + (trials - least) * log1p(-p)
    )
    odds = p / (1 - p)
    terms = min(trials - least, int(10 * sqrt(trials * p * (1 - p))) + 100)
    j = np.arange(1, terms + 1)
    # Ratios of successive terms; they fall, so the last one bounds all that follow.
    ratios = (trials - least - j + 1) / (least + j) * odds
    products = np.cumprod(ratios)
    total = 1 + float(products.sum())
    if terms < trials - least:
        total += float(products[-1]) * float(ratios[-1]) / max(1 - float(ratios[-1]), 1e-12)
    return min(exp(first) * total * (1 + _ROUNDING), 1.0)
