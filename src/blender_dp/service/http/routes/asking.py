"""Requests as handlers see them: strict bodies, addresses, and tokens with their roles."""

import re
from collections.abc import Collection
from functools import cache
from typing import Any

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.di import Provide
from litestar.handlers import BaseRouteHandler

from blender_dp.server.bodies.request_body import (
    LONGEST_EXPLAINED,
    ReceivedBody,
    explain_refusal,
    parse_body,
    read_body,
)
from blender_dp.server.bodies.threads import SHORT_BYTES
from blender_dp.server.problems import Problem
from blender_dp.service.http.access import (
    ANY_ROLE,
    AUDITORS,
    OPERATORS,
    Role,
    bearer,
    token_digest,
)
from blender_dp.service.http.messages import Taken
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Reason, StoreRefusal, Token

MOST_BYTES = 1 << 16
"""Longest body, unless a route sets another limit."""
_ACTOR = "blender-dp actor"
_BODY = "blender-dp body"
"""Key of the body in the request's scope: several objects share it, and it arrives once."""

Asking = ASGIConnection[Any, Any, Any, Any]
"""A request before its body is read."""


class StrictRequest(Request[Any, Any, Any]):
    """A request whose body is read within limits and parsed as strict JSON."""

    async def body(self) -> bytes:
        """Return the body as it was sent; the framework calls this to see whether there is one."""
        content, _ = await self._content_and_value()
        return content

    async def json(self) -> Any:  # noqa: ANN401 - as the route declares it
        """Return the body as the type that its route declares.

        Converted here, because the framework would accept "1" for 1.
        """
        _, value = await self._content_and_value()
        return value

    async def _content_and_value(self) -> tuple[bytes, Any]:
        known: tuple[bytes, Any] | None = self.scope["state"].get(_BODY)
        if known is None:
            known = await self._read()
            self.scope["state"][_BODY] = known
        return known

    async def _read(self) -> tuple[bytes, Any]:
        service: ServiceState = self.app.state.service
        most = self.route_handler.opt.get("most_bytes", MOST_BYTES)
        declared = self.route_handler.parsed_data_field
        wanted = Any if declared is None else declared.annotation
        with service.bodies.lease() as lease:
            body = await read_body(self.scope["headers"], self.receive, most, lease)
            if body.is_gzip or len(body.content) > SHORT_BYTES:
                return body.content, await service.body_threads.run(_convert, body, most, wanted)
            return body.content, _convert(body, most, wanted)


def _convert(body: ReceivedBody, most: int, wanted: Any) -> Any:  # noqa: ANN401 - any type
    """Return a body as a type; refuse it if the JSON or the type is not strictly right.

    A long body is first read by the fast decoder, which stops at the first wrong value. Checking
    millions of values one by one would take seconds.
    """
    text = body.plain(most)
    if not text:
        raise Problem.BODY_NOT_JSON.error()
    if len(text) > LONGEST_EXPLAINED:
        try:
            msgspec.json.decode(text, type=wanted, strict=True)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise explain_refusal(text) from None
    value = parse_body(text)
    try:
        return msgspec.convert(value, wanted, strict=True)
    except msgspec.ValidationError as error:
        raise Problem.BODY_NOT_UNDERSTOOD.error(where=_find_field(error)) from None


def _find_field(error: msgspec.ValidationError) -> str | None:
    """Return the path of the wrong field; None unless it has documented names and numbers only.

    The message also repeats the request: an unknown field may have a name that looks like a path.
    """
    _, found, path = str(error).rpartition(" - at `")
    named = set(re.findall(r"[^$.\[\]`]+", path))
    is_documented = all(name in _documented_names() or name.isdigit() for name in named)
    return path.rstrip("`") if found and is_documented else None


@cache
def _documented_names() -> frozenset[str]:
    return frozenset(name for taken in Taken.__subclasses__() for name in taken.__struct_fields__)


def address_of(request: Asking) -> str:
    """Return the address of a request, used for limits only and never stored or logged."""
    return request.client.host if request.client else ""


async def admit_request(request: Asking, roles: Collection[Role]) -> Token:
    """Return the token of a request if its role is one of these, else refuse."""
    service: ServiceState = request.app.state.service
    authorization = request.headers.get("authorization")
    return await service.authenticator.admit(authorization, address_of(request), roles)


def enrolment_of(request: Asking) -> bytes:
    """Return the digest of the enrolment token that comes with a request."""
    return token_digest(bearer(request.headers.get("authorization")))


async def admit_enrolment(request: Asking) -> None:
    """Refuse a token that is no enrolment of the request's campaign.

    Wrong tokens count against their address, uploads against their token: a person who sends many
    does not lock out other people with the same address.
    """
    service: ServiceState = request.app.state.service
    enrolment = enrolment_of(request)
    try:
        await service.dependencies.store.require_enrolment(
            request.path_params["campaign_id"], enrolment
        )
    except StoreRefusal as refusal:
        if refusal.reason is Reason.UNKNOWN_ENROLMENT:
            raise service.authenticator.wrong_token(address_of(request)) from None
        raise
    service.opt_in_limit.take(enrolment.hex())


def _admits(roles: Collection[Role]) -> dict[str, Any]:
    """Return the guard and dependency of a handler that only these roles may call.

    The guard is needed besides the dependency: guards run before the body is read, so that only
    holders of a token can make the service read one.
    """

    async def admit(request: Asking, _handler: BaseRouteHandler) -> None:
        request.scope["state"][_ACTOR] = await admit_request(request, roles)

    return {"guards": [admit], "dependencies": {"actor": Provide(_actor)}, "security": BEARER}


async def _actor(request: Request[Any, Any, Any]) -> Token:
    actor: Token = request.scope["state"][_ACTOR]
    return actor


BEARER = [{"token": list[str]()}]
"""Security requirement in the OpenAPI description: a token is needed."""
operator = _admits(OPERATORS)
auditor = _admits(AUDITORS)
any_role = _admits(ANY_ROLE)
