"""Problems as ASGI messages, for answers outside the framework."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from blender_dp.server.problems import MEDIA_TYPE, ProblemError

Send = Callable[[Any], Awaitable[None]]


async def send_problem(
    error: ProblemError, send: Send, headers: Mapping[str, str] | None = None
) -> int:
    """Answer with a problem and return its status."""
    body, status = msgspec.json.encode(error.document()), error.problem.kind.status
    named = {
        "content-type": MEDIA_TYPE,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        **error.headers,
        **(headers or {}),
    }
    encoded = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
    return status
