"""Jobs that one worker gave back because the store had too much to do, and when it tries again.

A long reader, a backup for instance, keeps erasing from its end for hours. Every try disturbs those
who write, so that the pauses grow. They are this process's own: another worker tries by its own.
"""

from collections.abc import Callable, Collection

_FIRST_PAUSE_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 900.0


class PutOffJobs:
    """One worker's memory of what it put off."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        """Remember nothing yet.

        Args:
            elapsed: Seconds on a clock that only goes forward.
        """
        self._elapsed = elapsed
        self._pauses: dict[int, float] = {}
        self._due: dict[int, float] = {}

    def add(self, job: int) -> None:
        """Leave a job alone for a while, longer each time."""
        pause = min(2 * self._pauses.get(job, _FIRST_PAUSE_SECONDS / 2), _LONGEST_PAUSE_SECONDS)
        self._pauses[job] = pause
        self._due[job] = self._elapsed() + pause

    def not_due(self) -> Collection[int]:
        """Return the jobs that are to be left alone now."""
        now = self._elapsed()
        return [job for job, due in self._due.items() if now < due]

    def forget(self, job: int) -> None:
        """Drop what is known of a job that ended."""
        self._pauses.pop(job, None)
        self._due.pop(job, None)
