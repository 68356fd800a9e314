"""Sizes of the groups of users: the same rounding and the same limits on every engine."""

from blender_dp.core.errors import BlenderError, ParameterError, is_number

FEWEST_OPT_IN = 3
"""Fewest opt-in users: one to find records, and two to estimate a variance."""
FEWEST_CLIENTS = 2


def opt_in_users(users: int, fraction: float) -> int:
    """Return the number of opt-in users, given their share of all users."""
    if not (is_number(fraction) and 0 < fraction < 1):
        raise ParameterError("opt_in", "strictly between 0 and 1", fraction)
    return round(users * fraction)


def relay_users(clients: int, share: float) -> int:
    """Return the number of relay clients, given their share of all clients."""
    return round(clients * share)


def discovery_users(opted_in: int, fraction: float) -> int:
    """Return the number of opt-in users who find the head list; at least two others remain."""
    return min(max(round(opted_in * fraction), 1), opted_in - 2)


def require_both_groups(opted_in: int, clients: int) -> None:
    """Refuse to run, before anything is spent, when a group has too few users."""
    if opted_in + clients == 0:
        raise BlenderError("the log has no users: it is empty")
    if opted_in < FEWEST_OPT_IN or clients < FEWEST_CLIENTS:
        raise BlenderError(
            f"both groups need users: at least {FEWEST_OPT_IN} who opted in and "
            f"{FEWEST_CLIENTS} clients; this log has {opted_in:,} and {clients:,}"
        )
