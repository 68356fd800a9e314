"""Rewriting of a PostgreSQL table without its deleted rows.

``VACUUM`` alone frees space without overwriting it, so tables are rewritten (``VACUUM FULL``).
Deleted rows that an older snapshot may still see, for instance that of a dump, are copied too. The
server reports their number, and the table must be rewritten again later.
"""

import re
from contextlib import suppress
from typing import Any

import asyncpg

from blender_dp.server.databases.postgres_connection import UNREACHABLE

_LOCK_TIMEOUT = "2s"
"""Longest wait of a rewrite for its table; all later requests for the table wait with it."""
_LONGEST_SECONDS = 24 * 3600.0
"""Time limit of a rewrite; a large table takes longer than any other command may."""


async def is_rewritten(pool: Any, table: str) -> bool:  # noqa: ANN401 - asyncpg has no types
    """Rewrite a table; return False if it was locked, or if a snapshot still sees deleted rows."""
    kept: list[int] = []

    def listen(_connection: object, message: Any) -> None:  # noqa: ANN401 - as above
        # "2 dead row versions cannot be removed yet", in the server's language.
        if found := re.match(r"\D*(\d+)", message.detail or ""):
            kept.append(int(found[1]))

    async with pool.acquire() as connection:
        connection.add_log_listener(listen)
        await connection.execute(f"SET lock_timeout = '{_LOCK_TIMEOUT}'")
        try:
            command = f"VACUUM (FULL, VERBOSE) {table}"
            await connection.execute(command, timeout=_LONGEST_SECONDS)
        except asyncpg.LockNotAvailableError:
            return False
        finally:
            with suppress(*UNREACHABLE):
                connection.remove_log_listener(listen)
                await connection.execute("RESET lock_timeout")
    return not any(kept)
