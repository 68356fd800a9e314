"""File descriptors for all connections: the process's limit is raised, or its shortage is said."""

from blender_dp.service.http.connections import MOST_CONNECTIONS
from blender_dp.service.operation.event_log import EventLog

RESERVED = 512
"""Descriptors for everything but connections: the database, keys, files, other processes."""
_FEWEST_CONNECTIONS = 64


def connection_limit(event_log: EventLog) -> int:
    """Return how many connections this process can have, after raising its limit if it may.

    A process that runs out of descriptors can open neither connections nor its own files, so
    connections are kept below the limit, and a limit that is too low is said at the start.
    """
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return MOST_CONNECTIONS
    wanted = MOST_CONNECTIONS + RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MOST_CONNECTIONS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed >= wanted:
        return MOST_CONNECTIONS
    limit = max(allowed - RESERVED, _FEWEST_CONNECTIONS)
    event_log.write("few-descriptors", allowed=allowed, wanted=wanted, connections=limit)
    return limit
