"""The event loop and the clock of the service's commands."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def run_loop(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine to its end, in the fastest event loop that is installed."""
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)
