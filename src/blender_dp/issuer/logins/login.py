"""Protocol of a login: from what a caller sent to a stable name of the person."""

from typing import Protocol

from blender_dp.core.errors import BlenderError

MOST_SUBJECT = 1024
"""Longest name of a person."""
MOST_ANSWER_BYTES = 1 << 20
"""Longest answer of a login's server."""
SECONDS = 10.0
"""How long a login's server may take."""


class LoginRefusedError(BlenderError):
    """The caller is nobody whom the login knows."""

    def __init__(self) -> None:
        super().__init__("the login does not know the caller")


class LoginUnavailableError(BlenderError):
    """The login's server does not answer as documented; the same may be tried later."""

    def __init__(self) -> None:
        super().__init__("the login's server does not answer as documented")


class Login(Protocol):
    """Tells people apart."""

    async def subject(self, credential: str) -> str:
        """Return the stable name of a person: the same at every login, and nobody else's.

        Args:
            credential: What the caller sent after ``Bearer``.

        Raises:
            LoginRefusedError: The credential is not valid, or not any more.
            LoginUnavailableError: Nobody knows at the moment.
        """
        ...

    async def close(self) -> None:
        """End all connections."""
        ...
