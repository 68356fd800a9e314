"""Construction of the service: an ASGI application from its dependencies."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException, ValidationException
from litestar.params import ParameterKwarg

from blender_dp.server.bodies.request_body import Disconnected
from blender_dp.server.event_log import EventLog
from blender_dp.server.problems import MEDIA_TYPE, RETRY_SECONDS, Problem, ProblemError
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.http.asgi_app import AsgiApp, allowed_methods
from blender_dp.service.http.openapi import read_openapi
from blender_dp.service.http.routes import HANDLERS
from blender_dp.service.http.routes.asking import StrictRequest
from blender_dp.service.http.routes.dashboard import dashboard
from blender_dp.service.http.routes.share import HANDLERS as SHARE_PAGE
from blender_dp.service.jobs.ticker import Ticker
from blender_dp.service.jobs.worker import Worker
from blender_dp.service.keys.key_vault import KeysGoneError
from blender_dp.service.problems import of_store
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import StoreRefusal


def create_app(
    dependencies: Dependencies, event_log: EventLog | None = None, *, has_jobs: bool = True
) -> AsgiApp:
    """Return the service as an ASGI application.

    Args:
        dependencies: Storage, keys, clock and other dependencies.
        event_log: Where events are written; standard error if None.
        has_jobs: Whether this process runs jobs and applies campaigns' rules.
    """
    service = ServiceState.of(dependencies, event_log or EventLog(dependencies.now))
    framework = Litestar(
        route_handlers=[
            *HANDLERS,
            *SHARE_PAGE,
            read_openapi,
            dashboard(dependencies.dashboard, _answer_no_file),
        ],
        request_class=StrictRequest,
        dependencies={"service": Provide(lambda: service, sync_to_thread=False, use_cache=True)},
        exception_handlers={
            HTTPException: _answer_framework,
            ProblemError: _answer_problem,
            StoreRefusal: _answer_refusal,
            KeysGoneError: _answer_keys_gone,
            Disconnected: _pass_on,
            Exception: _answer_failure(service),
        },
        state=State({"service": service}),
        lifespan=[_running(service, has_jobs=has_jobs)],
        openapi_config=None,
        logging_config=None,
    )
    return AsgiApp(service, framework)


def _running(service: ServiceState, *, has_jobs: bool) -> Callable[[Litestar], Any]:
    @asynccontextmanager
    async def lifespan(_app: Litestar) -> AsyncIterator[None]:
        ticker = Ticker(service, applies_rules=has_jobs)
        work = [ticker.run()]
        if has_jobs:
            work.append(Worker.of(service.dependencies, service.event_log).run())
        tasks = [asyncio.create_task(one) for one in work]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await ticker.flush()
            service.body_threads.close()

    return lifespan


def _problem(error: ProblemError, headers: Mapping[str, str] | None = None) -> Response[bytes]:
    return Response(
        msgspec.json.encode(error.document()),
        status_code=error.problem.kind.status,
        media_type=MEDIA_TYPE,
        headers={"cache-control": "no-store", **error.headers, **(headers or {})},
    )


def _answer_problem(_request: Request[Any, Any, Any], error: ProblemError) -> Response[bytes]:
    return _problem(error)


def _answer_refusal(_request: Request[Any, Any, Any], error: StoreRefusal) -> Response[bytes]:
    return _problem(of_store(error.reason))


def _answer_keys_gone(_request: Request[Any, Any, Any], _error: KeysGoneError) -> Response[bytes]:
    return _problem(Problem.KEYS_GONE.error(retry_after=RETRY_SECONDS))


def _answer_framework(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """Turn an error of the framework into a problem without its text, which may quote a request."""
    if isinstance(error, ValidationException):
        return _problem(_not_understood(request, error))
    if error.status_code == 404:
        return _problem(Problem.NOT_FOUND.error())
    if error.status_code == 405:
        allowed = allowed_methods(request.app, request.scope["path"])
        return _problem(Problem.METHOD_NOT_ALLOWED.error(), {"allow": allowed or ""})
    if error.status_code >= 500:
        return _problem(Problem.INTERNAL_ERROR.error())
    return _problem(Problem.REQUEST_NOT_UNDERSTOOD.error())


def _not_understood(request: Request[Any, Any, Any], error: ValidationException) -> ProblemError:
    """Return a problem that names the wrong field; the framework gives documented names only."""
    details = error.extra if isinstance(error.extra, list) else []
    sources = [(detail.get("source"), detail.get("key")) for detail in details]
    source, key = sources[0] if sources else (None, None)
    problem = Problem.BODY_NOT_UNDERSTOOD if source == "body" else Problem.REQUEST_NOT_UNDERSTOOD
    return problem.error(where=None if key == "data" else _sent_name(request, key))


def _sent_name(request: Request[Any, Any, Any], key: str | None) -> str | None:
    """Return a parameter's name in the request; the framework gives its name in the code."""
    declared = request.route_handler.parsed_fn_signature.parameters.get(key or "")
    named = declared.kwarg_definition if declared else None
    return named.name if isinstance(named, ParameterKwarg) and named.name else key


def _answer_no_file(_request: Request[Any, Any, Any], _error: Exception) -> Response[bytes]:
    return _problem(Problem.NOT_FOUND.error())


def _pass_on(_request: Request[Any, Any, Any], error: Disconnected) -> Response[bytes]:
    raise error


def _answer_failure(
    service: ServiceState,
) -> Callable[[Request[Any, Any, Any], Exception], Response[bytes]]:
    def answer(_request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
        service.event_log.failure("request", error)
        return _problem(Problem.INTERNAL_ERROR.error())

    return answer
