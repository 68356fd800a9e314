"""Answers as ASGI messages: the headers that every answer has, and problems."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from blender_dp.server.direct_requests import Headers, answer_bytes
from blender_dp.server.problems import MEDIA_TYPE, ProblemError

Send = Callable[[Any], Awaitable[None]]
_ANY_ORIGIN = (b"access-control-allow-origin", b"*")
_EXPOSED = (b"access-control-expose-headers", b"etag, retry-after")
PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, content-encoding, if-none-match",
    ),
    (b"access-control-max-age", b"86400"),
]
_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
_FOR_ALL = [_ANY_ORIGIN, _EXPOSED, (b"cross-origin-resource-policy", b"cross-origin")]
_FOR_OURS = [
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
]


async def send_problem(
    error: ProblemError, send: Send, headers: Mapping[str, str] | None = None
) -> int:
    """Answer with a problem and return its status."""
    encoded, body = _problem(error, headers or {})
    status = error.problem.kind.status
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
    return status


def problem_bytes(error: ProblemError) -> bytes:
    """Return a problem of an open route as it is sent without ASGI."""
    headers, body = _problem(error, {})
    return open_answer(headers, body)


def open_answer(headers: Headers, body: bytes) -> bytes:
    """Return an answer of an open route as it is sent without ASGI."""
    return answer_bytes([*headers, *_SAFE, *_FOR_ALL], body)


def _problem(error: ProblemError, headers: Mapping[str, str]) -> tuple[Headers, bytes]:
    body = msgspec.json.encode(error.document())
    named = {
        "content-type": MEDIA_TYPE,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        **error.headers,
        **headers,
    }
    return [(name.encode(), value.encode()) for name, value in named.items()], body


class Answer:
    """Adds the headers that every answer has, and keeps its status."""

    __slots__ = ("_send", "is_open", "status")

    def __init__(self, send: Send, *, is_open: bool) -> None:
        self._send, self.is_open, self.status = send, is_open, 0

    async def __call__(self, message: Any) -> None:  # noqa: ANN401
        """Send a message of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            others = _FOR_ALL if self.is_open else _FOR_OURS
            message["headers"] = [*message["headers"], *_SAFE, *others]
        await self._send(message)
