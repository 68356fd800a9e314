"""Doubts about a run: what a person is told before the privacy of users is spent."""

from math import exp

from blender_dp.core.blender import PRESETS
from blender_dp.core.parameters import Parameters, delta_warning

LARGE_EPSILON = 10.0
"""Largest ε that nobody is warned of."""
_TOO_LARGE_TO_WRITE = 50.0
_RARE = 10
"""A record that one opt-in user in ten has should be found."""


def doubts_about(
    parameters: Parameters, *, opt_in_users: int, users: int, has_known_list: bool = False
) -> list[str]:
    """Return what speaks against a run, a sentence each; nothing is drawn yet.

    Args:
        parameters: The promise.
        opt_in_users: Number of users who opted in.
        users: Number of all users who are promised something.
        has_known_list: Whether some records need not be found.
    """
    found = (
        epsilon_warning(parameters.epsilon),
        delta_warning(parameters.delta, users),
        None if has_known_list else few_users_warning(parameters, opt_in_users),
    )
    return [doubt for doubt in found if doubt is not None]


def epsilon_warning(epsilon: float) -> str | None:
    """Return why ε is large, or None if it is not.

    >>> epsilon_warning(10.0) is None
    True
    """
    if epsilon <= LARGE_EPSILON:
        return None
    times = f"{exp(epsilon):.2g}" if epsilon < _TOO_LARGE_TO_WRITE else "10²¹ and more"
    return (
        f"ε = {epsilon:g} is large. What is released may be {times} times as likely with a "
        f"person's data as without; choose at most {LARGE_EPSILON:g}."
    )


def few_users_warning(parameters: Parameters, opt_in_users: int) -> str | None:
    """Return why the opt-in users are too few, or None if they are not.

    The plan of discovery lists a record if a certain number of opt-in users have it. The larger
    that number is among them, the fewer records can be found.
    """
    threshold = PRESETS[parameters.preset].users_to_list_a_record(parameters)
    if opt_in_users >= _RARE * threshold:
        return None
    return (
        f"{opt_in_users:,} opt-in users are few: a record is listed if about {threshold:,} of them "
        f"have it. Have {_RARE * threshold:,} opt-in users or more, or a larger ε or δ."
    )
