"""A request's body: whole, in time, within its limit, and inflated if it came as gzip."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from blender_dp.service.problems import Problem

Receive = Callable[[], Awaitable[Any]]
Headers = Iterable[tuple[bytes, bytes]]
SECONDS = 60.0
"""How long a body may take to arrive."""
_GZIP = 16 + zlib.MAX_WBITS


class Disconnected(Exception):  # noqa: N818 - nobody is left to answer
    """The client went away before its request was whole."""


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes:
    """Return the body as JSON text should be, at most so many bytes of it.

    Args:
        headers: The request's, names in lower case.
        receive: Gives the pieces.
        most: Bytes, before and after inflating.
    """
    is_gzip = _check_headers(headers, most)
    try:
        async with asyncio.timeout(SECONDS):
            body = await _collected(receive, most)
    except TimeoutError:
        raise Problem.BODY_TOO_SLOW.error() from None
    return inflated(body, most) if is_gzip else body


def _check_headers(headers: Headers, most: int) -> bool:
    """Refuse what is not JSON, plain or gzip, or says that it is too long; tell which it is."""
    media_type = encoding = b""
    for name, value in headers:
        if name == b"content-type":
            media_type = value
        elif name == b"content-encoding":
            encoding = value.strip().lower()
        elif name == b"content-length" and value.isdigit() and int(value) > most:
            raise Problem.BODY_TOO_LARGE.error()
    if media_type != b"application/json" and not _is_json(media_type):
        raise Problem.MEDIA_TYPE_NOT_SUPPORTED.error()
    if encoding not in (b"", b"identity", b"gzip"):
        raise Problem.ENCODING_NOT_SUPPORTED.error()
    return encoding == b"gzip"


def _is_json(media_type: bytes) -> bool:
    essence, _, parameters = media_type.lower().partition(b";")
    return essence.strip() == b"application/json" and parameters.strip() in (
        b"",
        b"charset=utf-8",
        b'charset="utf-8"',
    )


async def _collected(receive: Receive, most: int) -> bytes:
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > most:
            raise Problem.BODY_TOO_LARGE.error()
        return body
    pieces, total = [], 0
    while message["type"] == "http.request":
        pieces.append(message.get("body", b""))
        total += len(pieces[-1])
        if total > most:
            raise Problem.BODY_TOO_LARGE.error()
        if not message.get("more_body", False):
            return b"".join(pieces)
        message = await receive()
    raise Disconnected


def inflated(body: bytes, most: int) -> bytes:
    """Inflate gzip, never to more than ``most`` bytes."""
    stream = zlib.decompressobj(_GZIP)
    try:
        text = stream.decompress(body, most + 1)
    except zlib.error:
        raise Problem.BODY_NOT_GZIP.error() from None
    if len(text) > most:
        raise Problem.INFLATED_TOO_LARGE.error()
    if not stream.eof or stream.unused_data:
        raise Problem.BODY_NOT_GZIP.error()
    return text
