"""Outermost ASGI layer: passes reports to their own route and everything else to the framework.

Every answer passes through it. So the log line, the metrics and the security headers are made in
one place.
"""

import re
import time
from typing import Any

from litestar import Litestar

from blender_dp.server.answers import PREFLIGHT, Answer, Send, send_problem
from blender_dp.server.bodies.request_body import Disconnected, Receive
from blender_dp.server.problems import Problem
from blender_dp.service.http.reports.route import TEMPLATE, ReportRoute, campaign_in
from blender_dp.service.state import ServiceState

_OPEN = re.compile(
    r"/v1/campaigns/[^/]+(?:/(?:reports|report-token|enrol|opt-in|head-list|release|opt-in-estimates|"
    r"client-estimates|certificate))?|/v1/log"
)
"""Routes that pages and extensions of any origin may call, never with credentials."""
NO_ROUTE = "(none)"
_METHODS = frozenset({"GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH"})


class AsgiApp:
    """The whole service as one ASGI application."""

    def __init__(self, service: ServiceState, framework: Litestar) -> None:
        self.service, self.framework = service, framework
        self.reports = ReportRoute(service)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:  # noqa: ANN401
        """Answer a request, whatever happens."""
        if scope["type"] != "http":
            await self.framework(scope, receive, send)
            return
        began, path = time.perf_counter(), scope["path"]
        campaign_id = campaign_in(path)
        is_open = campaign_id is not None or _OPEN.fullmatch(path) is not None
        answer = Answer(send, is_open=is_open)
        try:
            if scope["method"] == "OPTIONS":
                await self._options(path, answer)
            elif campaign_id is not None:
                await self.reports(campaign_id, scope, receive, answer)
            else:
                await self.framework(scope, receive, answer)
        except Disconnected:
            answer.status = answer.status or 499
        except Exception as error:  # noqa: BLE001 - the outermost handler must answer
            self.service.event_log.failure("request", error)
            if not answer.status:
                await send_problem(Problem.INTERNAL_ERROR.error(), answer)
        route = TEMPLATE if campaign_id else scope.get("path_template") or NO_ROUTE
        method = scope["method"] if scope["method"] in _METHODS else "other"  # it may be anything
        self.service.note_answer(method, route, answer.status, time.perf_counter() - began)

    async def _options(self, path: str, answer: Answer) -> None:
        """Answer with the allowed methods, and with CORS headers for pages of other origins."""
        allowed = allowed_methods(self.framework, path)
        if allowed is None:
            await send_problem(Problem.NOT_FOUND.error(), answer)
            return
        headers = [(b"allow", allowed.encode()), *(PREFLIGHT if answer.is_open else ())]
        await answer({"type": "http.response.start", "status": 204, "headers": headers})
        await answer({"type": "http.response.body", "body": b""})


def allowed_methods(framework: Litestar, path: str) -> str | None:
    """Return the methods of a path as the header ``Allow`` lists them; None if it has none."""
    methods = {"POST"} if campaign_in(path) else set[str]()
    for route in framework.routes:
        if _matches(route.path_format, path):
            methods |= {str(method) for method in getattr(route, "methods", ())}
    return ", ".join(sorted({*methods, "OPTIONS"})) if methods else None


def _matches(template: str, path: str) -> bool:
    wanted, given = template.strip("/").split("/"), path.strip("/").split("/")
    return len(wanted) == len(given) and all(
        part.startswith("{") or part == there for part, there in zip(wanted, given, strict=True)
    )
