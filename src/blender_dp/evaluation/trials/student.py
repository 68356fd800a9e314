"""Quantile of Student's t distribution, for the error of a mean over few trials."""

import math

_HALVINGS = 60
"""Steps of the bisection: the angle is then known to the last bit."""


def student_quantile(probability: float, degrees: int) -> float:
    """Return the t for which |T| is at most t with this probability, at whole degrees of freedom.

    The bisection runs over the angle whose tangent is t over the root of the degrees, for which the
    probability is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        angle = (low + high) / 2
        if _probability_within(angle, degrees) < probability:
            low = angle
        else:
            high = angle
    return math.tan(low) * math.sqrt(degrees)


def _probability_within(angle: float, degrees: int) -> float:
    """Return the probability that |T| is at most the tangent of ``angle`` times √degrees."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    is_odd = degrees % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for step in range(2 if is_odd else 1, degrees, 2):
        total += term
        term *= square * step / (step + 1)
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
