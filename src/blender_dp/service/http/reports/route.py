"""Route POST …/reports, the busiest one: without the framework, and mostly without ASGI."""

import re
import time
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from blender_dp.server.answers import open_answer, problem_bytes, send_problem
from blender_dp.server.bodies.request_body import Disconnected, Receive, read_body
from blender_dp.server.bodies.threads import SHORT_BYTES
from blender_dp.server.direct_requests import DirectRequest, Headers, Take
from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.http.reports.checked_reports import Added, Outcome
from blender_dp.service.http.reports.groups import ReportGroups
from blender_dp.service.http.reports.intake import MOST_BATCH_BYTES, ReportIntake
from blender_dp.service.problems import of_store
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import StoreRefusal

TEMPLATE = "/v1/campaigns/{campaign_id}/reports"
_PATH = re.compile(r"/v1/campaigns/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/reports")
_HEADERS = [(b"content-type", b"application/json")]


def campaign_in(path: str) -> str | None:
    """Return the campaign of a path to reports; None for other paths."""
    found = _PATH.fullmatch(path)
    return found[1] if found else None


class ReportRoute:
    """Takes one report or a batch; answers when they are on disk."""

    def __init__(self, service: ServiceState) -> None:
        self._service = service
        dependencies = service.dependencies
        self._groups = ReportGroups(dependencies.store, dependencies.metrics, service.event_log)

    def find(self, url: bytes) -> Take | None:
        """Return what takes small requests to a campaign whose list is loaded."""
        campaign_id = _campaign_in_url(url)
        if campaign_id is None:
            return None
        intake = self._service.lists.known_intake(campaign_id)
        return None if intake is None else partial(self._take_direct, campaign_id, intake)

    def _take_direct(self, campaign_id: str, intake: ReportIntake, request: DirectRequest) -> None:
        answer = partial(self._answer, campaign_id, request)
        self._groups.add(campaign_id, intake, request.body, answer)

    def _answer(self, campaign_id: str, request: DirectRequest, outcome: Outcome) -> None:
        if isinstance(outcome, Added):
            status, rest = 202, _accepted_bytes(outcome.accepted, outcome.repeated)
        else:
            problem = self._problem(outcome)
            self._count_refusal(campaign_id, problem)
            status, rest = problem.problem.kind.status, problem_bytes(problem)
        request.answer(status, rest)
        self._service.note_answer("POST", TEMPLATE, status, time.perf_counter() - request.began)

    async def __call__(
        self,
        campaign_id: str,
        scope: Any,  # noqa: ANN401 - ASGI
        receive: Receive,
        send: Any,  # noqa: ANN401 - ASGI
    ) -> int:
        """Answer a request and return the status."""
        try:
            if scope["method"] != "POST":
                raise Problem.METHOD_NOT_ALLOWED.error()
            added = await self._take(campaign_id, scope, receive)
        except Disconnected:
            raise
        except Exception as error:  # noqa: BLE001 - the client is told
            problem = self._problem(error)
            self._count_refusal(campaign_id, problem)
            extra = {"allow": "POST, OPTIONS"} if problem.problem.kind.status == 405 else {}
            return await send_problem(problem, send, extra)
        headers, body = _accepted(added.accepted, added.repeated)
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return 202

    async def _take(self, campaign_id: str, scope: Any, receive: Receive) -> Added:  # noqa: ANN401
        lists = self._service.lists
        intake = lists.known_intake(campaign_id) or await lists.intake(UUID(campaign_id))
        with self._service.bodies.lease() as lease:
            body = await read_body(scope["headers"], receive, MOST_BATCH_BYTES, lease)
            is_long = body.is_gzip or len(body.content) > SHORT_BYTES
            if is_long:
                reports = await self._service.body_threads.run(intake.receive, body)
        if is_long:
            return await self._groups.add_alone(campaign_id, reports)
        outcome = await self._groups.outcome(campaign_id, intake, body.content)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _problem(self, error: Exception) -> ProblemError:
        """Return the problem with which a request is answered."""
        if isinstance(error, ProblemError):
            return error
        if isinstance(error, StoreRefusal):
            return of_store(error.reason)
        self._service.event_log.failure("request", error)
        return Problem.INTERNAL_ERROR.error()

    def _count_refusal(self, campaign_id: str, error: ProblemError) -> None:
        kind = error.problem.kind
        self._service.dependencies.metrics.count_refusal(kind.slug)
        # Counted only for campaigns that exist: anybody can invent other ids.
        is_known = self._service.lists.known_intake(campaign_id) is not None
        if kind.status < 500 and (is_known or error.problem is Problem.NOT_COLLECTING):
            self._service.count_refusal(UUID(campaign_id), kind.slug)


@lru_cache(maxsize=256)
def _campaign_in_url(url: bytes) -> str | None:
    """Return the campaign of a path as it was sent; cached: there are few campaigns."""
    return campaign_in(url.decode("latin-1"))


def _accepted(accepted: int, repeated: int) -> tuple[Headers, bytes]:
    body = b'{"accepted":%d,"repeated":%d}' % (accepted, repeated)
    return [*_HEADERS, (b"content-length", b"%d" % len(body))], body


@lru_cache(maxsize=256)
def _accepted_bytes(accepted: int, repeated: int) -> bytes:
    return open_answer(*_accepted(accepted, repeated))
