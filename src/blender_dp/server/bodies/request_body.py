"""Request bodies: received in time and within a limit, inflated if gzip, parsed as strict JSON."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from blender_dp.server.bodies.in_flight import BodyLease
from blender_dp.server.problems import Problem, ProblemError
from blender_dp.wire.documents.strict_json import JsonRule, StrictJsonError, parse_json

Receive = Callable[[], Awaitable[Any]]
Headers = Iterable[tuple[bytes, bytes]]
SECONDS = 60.0
"""How long a body may take to arrive."""
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 1 << 18
"""Bytes that are inflated before the limits are checked again."""
LONGEST_EXPLAINED = 1 << 16
"""Longest body whose values are all checked to find the error in it."""
_PROBLEMS = {
    JsonRule.UTF8: Problem.BODY_NOT_UTF8,
    JsonRule.SYNTAX: Problem.BODY_NOT_JSON,
    JsonRule.NESTING: Problem.BODY_TOO_DEEP,
    JsonRule.KEYS: Problem.DUPLICATE_KEY,
    JsonRule.FINITE: Problem.NUMBER_NOT_FINITE,
    JsonRule.DIGITS: Problem.BODY_NOT_UNDERSTOOD,
    JsonRule.CHARACTERS: Problem.ODD_UNICODE,
}


class Disconnected(Exception):  # noqa: N818 - the client is gone, no answer follows
    """The client disconnected before its request was complete."""


class ReceivedBody(NamedTuple):
    """A body as it came over the network."""

    content: bytes
    is_gzip: bool

    def plain(self, most: int, most_objects: int | None = None) -> bytes:
        """Return the body as it was before its client compressed it.

        Args:
            most: Bytes, else refused.
            most_objects: JSON objects, else refused. Counted by their opening brackets while the
                body is inflated. So a small compressed body with millions of objects costs no more
                than an honest one.
        """
        if self.is_gzip:
            return inflate(self.content, most, most_objects)
        if most_objects is not None:
            _require_objects(self.content.count(b"{"), most_objects)
        return self.content


async def read_body(
    headers: Headers, receive: Receive, most: int, lease: BodyLease | None = None
) -> ReceivedBody:
    """Return the body as it was sent, or refuse one of more than ``most`` bytes.

    Args:
        headers: The request's, names in lower case.
        receive: Gives the pieces.
        most: Bytes, before and after inflating.
        lease: Counts the bytes against what all bodies together may hold; None counts nothing.
    """
    is_gzip = _check_headers(headers, most)
    try:
        async with asyncio.timeout(SECONDS):
            content = await _collect(receive, most, lease)
    except TimeoutError:
        raise Problem.BODY_TOO_SLOW.error() from None
    return ReceivedBody(content, is_gzip)


def _check_headers(headers: Headers, most: int) -> bool:
    """Refuse all but plain or gzip JSON of allowed length; tell whether it is gzip."""
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


async def _collect(receive: Receive, most: int, lease: BodyLease | None) -> bytes:
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
        if lease is not None:
            await lease.hold(total)
        if not message.get("more_body", False):
            return b"".join(pieces)
        message = await receive()
    raise Disconnected


def inflate(body: bytes, most: int, most_objects: int | None = None) -> bytes:
    """Inflate gzip, never to much more than ``most`` bytes or ``most_objects`` brackets."""
    stream, pieces, total, objects = zlib.decompressobj(_GZIP), list[bytes](), 0, 0
    rest = body
    try:
        while not stream.eof:
            piece = stream.decompress(rest, _PIECE)
            rest = stream.unconsumed_tail
            if not piece and not rest and not stream.eof:
                raise Problem.BODY_NOT_GZIP.error()
            pieces.append(piece)
            total += len(piece)
            if total > most:
                raise Problem.INFLATED_TOO_LARGE.error()
            if most_objects is not None:
                objects += piece.count(b"{")
                _require_objects(objects, most_objects)
    except zlib.error:
        raise Problem.BODY_NOT_GZIP.error() from None
    if stream.unused_data:
        raise Problem.BODY_NOT_GZIP.error()
    return b"".join(pieces)


def _require_objects(objects: int, most: int) -> None:
    if objects > most:
        raise Problem.WRONG_NUMBER_OF_REPORTS.error()


def parse_body(body: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a body, or refuse it with the rule of strict JSON that it breaks."""
    try:
        return parse_json(body)
    except StrictJsonError as error:
        raise _PROBLEMS[error.rule].error() from None


def explain_refusal(body: bytes) -> ProblemError:
    """Return what is wrong with a body that the fast decoder refused without a reason.

    In a long body only UTF-8 and syntax are checked, which is quick. Checking every value would
    take seconds, and anybody can send a long body.
    """
    try:
        if len(body) <= LONGEST_EXPLAINED:
            parse_body(body)
        else:
            _require_syntax(body)
    except ProblemError as problem:
        return problem
    return Problem.BODY_NOT_UNDERSTOOD.error()


def _require_syntax(body: bytes) -> None:
    try:
        body.decode("utf-8")
        msgspec.json.decode(body, type=msgspec.Raw)
    except UnicodeDecodeError:
        raise Problem.BODY_NOT_UTF8.error() from None
    except RecursionError:
        raise Problem.BODY_TOO_DEEP.error() from None
    except msgspec.MsgspecError:
        raise Problem.BODY_NOT_JSON.error() from None
