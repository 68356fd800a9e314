"""Connections to PostgreSQL, and the errors that mean a lost connection."""

import asyncio
from contextlib import suppress
from typing import Any

import asyncpg

from blender_dp.core.errors import BlenderError

UNREACHABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # it is shutting down, or starting
    asyncpg.InsufficientResourcesError,  # its disk is full, or it has no connection left
    asyncpg.InterfaceError,  # the connection was closed before a command,
    asyncpg.InternalClientError,  # or during one
    OSError,  # refused, or no answer in time
)
COLLISION = asyncpg.TransactionRollbackError
"""Two transactions waited for each other; the cancelled one can be run again."""
_MOST_CONNECTIONS = 10
_PATIENCE_SECONDS = 30


async def connect(address: str) -> Any:  # noqa: ANN401 - asyncpg publishes no types
    """Return a pool of connections, or fail with one sentence that says why."""
    try:
        return await asyncpg.create_pool(
            address,
            min_size=1,
            max_size=_MOST_CONNECTIONS,
            # Returned to the pool without a reset: no setting, listener or lock outlives a
            # transaction.
            reset=_nothing_to_reset,
            timeout=_PATIENCE_SECONDS,
            command_timeout=_PATIENCE_SECONDS,
            # A commit is on disk when it returns, whatever the server's own setting.
            server_settings={"synchronous_commit": "on"},
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        # Not the address: it may hold a password. Not the message: it may hold the address.
        raise BlenderError(
            f"database must be a PostgreSQL server that answers; got {type(error).__name__}"
        ) from None


async def close(pool: Any) -> None:  # noqa: ANN401 - as above
    """Let all work finish and close every connection; one that is never given back is cut."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await pool.close()  # cuts what is left when its time is over


async def _nothing_to_reset(_connection: object) -> None:
    """Skip the reset, which would cost every transaction one more message to the server."""
