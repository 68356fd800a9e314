"""Guard rails: a promise that is hardly one is told, and one that is a slip needs ``--yes``."""

from math import exp

from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters

LARGE_EPSILON = 10.0
"""Largest ε that nobody is warned of."""
MOST_EPSILON = 50.0
"""Largest ε that is taken without ``--yes``: beyond it 400 was probably meant to be 4.00."""


def require_meant(parameters: Parameters, *, yes: bool) -> None:
    """Refuse a promise that is clearly a slip, unless ``--yes`` was given.

    Raises:
        ParameterError: ε is beyond any promise.
    """
    if parameters.epsilon > MOST_EPSILON and not yes:
        rule = f"at most {MOST_EPSILON:g}, unless --yes says that it is meant"
        raise ParameterError("epsilon", rule, parameters.epsilon)


def epsilon_warning(epsilon: float) -> str | None:
    """Return why ε is large, or None if it is not.

    >>> epsilon_warning(10.0) is None
    True
    """
    if epsilon <= LARGE_EPSILON:
        return None
    times = f"{exp(epsilon):.2g}" if epsilon < MOST_EPSILON else "10²¹ and more"
    return (
        f"ε = {epsilon:g} is large. What is released may be {times} times as likely with a "
        f"person's data as without; choose at most {LARGE_EPSILON:g}."
    )
