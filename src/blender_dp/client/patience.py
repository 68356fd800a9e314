"""Pauses and number of attempts for a service that is busy or unreachable."""

import os
from dataclasses import dataclass

BUSY = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may be sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Pauses between attempts, and when to give up."""

    attempts: int = 8
    first_wait: float = 0.25
    """Seconds; doubled each time."""
    longest_wait: float = 60.0

    def wait(self, attempt: int, retry_after: str | None) -> float | None:
        """Return the seconds to wait after a failed attempt; None to give up.

        Args:
            attempt: Number of attempts so far.
            retry_after: Seconds that the service asked for; used up to the longest wait.
        """
        if attempt >= self.attempts:
            return None
        if retry_after is not None and retry_after.isascii() and retry_after.isdigit():
            return min(float(retry_after), self.longest_wait)
        doubled = min(self.first_wait * 2.0 ** (attempt - 1), self.longest_wait)
        return doubled * (0.5 + os.urandom(1)[0] / 512)  # so that devices do not come together
