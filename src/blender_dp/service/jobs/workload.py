"""The work that waits in a store, in counts that name no campaign."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What whoever watches the service must know of its jobs and campaigns."""

    waiting: int
    """Jobs that nobody has begun."""
    overdue: int
    """Jobs, begun or not, that should have ended long ago."""
    failed: int
    oldest_open_seconds: float
    """Age of the oldest campaign that takes contributions or reports; 0 if none does."""
