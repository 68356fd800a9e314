"""Jobs that other workers hold, and how long each was not renewed, by the observer's own clock.

A holder changes a mark in the job's row while it lives. Whoever sees the same mark for long enough
takes the job over. No time is ever stored or compared with another machine's, so that clocks that
jump neither take a job from a living worker nor leave it with a dead one.
"""

from collections.abc import Callable, Sequence

from blender_dp.service.jobs.leases import RunningJob


class OthersJobs:
    """One observer's memory of running jobs."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        """Remember nothing yet.

        Args:
            elapsed: Seconds on a clock that only goes forward.
        """
        self._elapsed = elapsed
        self._since: dict[RunningJob, float] = {}
        self._first: dict[int, RunningJob] = {}

    def look(self, running: Sequence[RunningJob]) -> None:
        """Note all jobs that run now."""
        now = self._elapsed()
        self._since = {one: self._since.get(one, now) for one in running}
        self._first = {one.id: self._first.get(one.id, one) for one in running}

    def not_renewed_for(self, seconds: float) -> Sequence[RunningJob]:
        """Return the jobs whose mark did not change for so many seconds, oldest first."""
        now = self._elapsed()
        return [one for one, since in self._since.items() if now - since >= seconds]

    def are_undecided(self, owner: str) -> bool:
        """Tell whether somebody but ``owner`` holds a job and was not seen to renew it yet."""
        return any(self._first[one.id] == one and one.owner != owner for one in self._since)
