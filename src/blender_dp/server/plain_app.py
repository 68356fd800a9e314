"""ASGI application of a small server: a handful of routes, without a framework."""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from blender_dp.server.answers import PREFLIGHT, Answer, Send, send_problem
from blender_dp.server.bodies.request_body import Disconnected, Receive
from blender_dp.server.databases.database import UnavailableError
from blender_dp.server.event_log import EventLog
from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError

JSON = "application/json"
NO_ROUTE = "(none)"
_CAMPAIGN = re.compile(r"/v1/campaigns/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(/[a-z-]+|)")
_TEMPLATE = "/v1/campaigns/{campaign_id}"
_METHODS = frozenset({"GET", "POST", "OPTIONS", "HEAD", "PUT", "PATCH", "DELETE"})


class Page(NamedTuple):
    """Status, media type and content of an answer."""

    status: int
    media_type: str
    content: bytes


class CampaignRoute(NamedTuple):
    """What is done at a path below a campaign, which any web page may use."""

    method: str
    answer: Callable[[UUID, Any, Receive], Awaitable[Page]]
    """Called with the campaign, the request's scope and its body."""


Fixed = Mapping[str, Callable[[], Awaitable[Page]]]
_uuid = lru_cache(maxsize=256)(UUID)


class PlainApp:
    """A whole server as one ASGI application; fixed paths are read with GET."""

    def __init__(
        self,
        *,
        fixed: Fixed,
        of_campaign: Mapping[str, CampaignRoute],
        live: Callable[[], AbstractAsyncContextManager[None]],
        event_log: EventLog,
        count_answer: Callable[[str, str, int], None],
    ) -> None:
        """Keep what it works with.

        Args:
            fixed: What is shown at each path.
            of_campaign: What is done at each path below ``/v1/campaigns/ID``.
            live: Entered at the start of the server and left at its end.
            event_log: Gets the failures.
            count_answer: Called with route, method and status of every answer.
        """
        self._fixed, self._of_campaign, self._live = fixed, of_campaign, live
        self._event_log, self._count_answer = event_log, count_answer

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:  # noqa: ANN401
        """Answer a request, whatever happens."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        path, method = scope["path"], scope["method"]
        found = _CAMPAIGN.fullmatch(path)
        route = self._of_campaign.get(found[2]) if found else None
        template = _TEMPLATE + found[2] if found and route else self._route(path)
        answer = Answer(send, is_open=route is not None)
        try:
            await self._answer(route, found, scope, receive, answer)
        except ProblemError as problem:
            is_method = problem.problem is Problem.METHOD_NOT_ALLOWED
            headers = {"allow": _allowed(route)} if is_method else {}
            await send_problem(problem, answer, headers)
        except UnavailableError:
            await send_problem(Problem.OVERLOADED.error(retry_after=RETRY_SECONDS), answer)
        except Disconnected:
            answer.status = answer.status or 499
        except Exception as error:  # noqa: BLE001 - the outermost handler must answer
            self._event_log.failure("request", error)
            if not answer.status:
                await send_problem(Problem.INTERNAL_ERROR.error(), answer)
        self._count_answer(template, method if method in _METHODS else "other", answer.status)

    async def _answer(
        self,
        route: CampaignRoute | None,
        found: re.Match[str] | None,
        scope: Any,  # noqa: ANN401
        receive: Receive,
        answer: Answer,
    ) -> None:
        path, method = scope["path"], scope["method"]
        if route is None and path not in self._fixed:
            raise Problem.NOT_FOUND.error()
        if method == "OPTIONS":
            await _send_options(_allowed(route), answer)
        elif method != (route.method if route else "GET"):
            raise Problem.METHOD_NOT_ALLOWED.error()
        elif route and found:
            await _send(await route.answer(_uuid(found[1]), scope, receive), answer)
        else:
            await _send(await self._fixed[path](), answer)

    def _route(self, path: str) -> str:
        return path if path in self._fixed else NO_ROUTE

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._live():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _allowed(route: CampaignRoute | None) -> str:
    return f"{route.method if route else 'GET'}, OPTIONS"


async def _send_options(allowed: str, answer: Answer) -> None:
    headers = [(b"allow", allowed.encode()), *(PREFLIGHT if answer.is_open else ())]
    await answer({"type": "http.response.start", "status": 204, "headers": headers})
    await answer({"type": "http.response.body", "body": b""})


async def _send(page: Page, answer: Answer) -> None:
    headers = [
        (b"content-type", page.media_type.encode()),
        (b"content-length", b"%d" % len(page.content)),
        (b"cache-control", b"no-store"),
    ]
    await answer({"type": "http.response.start", "status": page.status, "headers": headers})
    await answer({"type": "http.response.body", "body": page.content})
