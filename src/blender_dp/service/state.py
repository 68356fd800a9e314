"""State of one service process: dependencies, limits and data kept between requests."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from blender_dp.core.blender import PRESETS
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_plan
from blender_dp.core.errors import BrokenPromiseError, ParameterError
from blender_dp.core.parameters import Parameters, exact
from blender_dp.server.bodies.in_flight import BodiesInFlight
from blender_dp.server.bodies.threads import BodyThreads
from blender_dp.server.event_log import EventLog
from blender_dp.server.problems import Problem
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.http.access import Authenticator, RateLimit
from blender_dp.service.http.turns import Turns
from blender_dp.service.operation.condition import ConditionWatch
from blender_dp.service.storage.published_list import PublishedLists
from blender_dp.wire.published.certificate import planned_document

_MOST_PLANS = 256


@dataclass(slots=True, kw_only=True)
class ServiceState:
    """State that the request handlers of one process share."""

    dependencies: Dependencies
    event_log: EventLog
    authenticator: Authenticator
    lists: PublishedLists
    condition: ConditionWatch
    enrol_limit: RateLimit
    opt_in_limit: RateLimit
    plan_limit: RateLimit
    bodies: BodiesInFlight = field(default_factory=BodiesInFlight)
    body_threads: BodyThreads = field(default_factory=BodyThreads)
    plan_turns: Turns = field(default_factory=Turns)
    trend_turns: Turns = field(default_factory=Turns)
    file_turns: Turns = field(default_factory=Turns)
    refusals: dict[UUID, Counter[str]] = field(default_factory=dict)
    """Refused requests that are not yet counted in the store."""
    trends: dict[tuple[UUID, UUID], bytes] = field(default_factory=dict)
    """Comparisons of releases that were answered, by campaign and earlier campaign."""
    _plans: dict[Parameters, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, dependencies: Dependencies, event_log: EventLog) -> "ServiceState":
        """Return the state of a process that starts."""
        limits = dependencies.limits
        return cls(
            dependencies=dependencies,
            event_log=event_log,
            authenticator=Authenticator(dependencies.store, RateLimit(limits.wrong_tokens)),
            lists=PublishedLists(dependencies),
            condition=ConditionWatch(dependencies, event_log),
            enrol_limit=RateLimit(limits.enrol),
            opt_in_limit=RateLimit(limits.opt_in),
            plan_limit=RateLimit(limits.plan),
        )

    def count_refusal(self, campaign_id: UUID, slug: str, count: int = 1) -> None:
        """Remember refusals until the next tick."""
        self.refusals.setdefault(campaign_id, Counter())[slug] += count

    def note_answer(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count and log an answer."""
        self.dependencies.metrics.count_answer(route, method, status, seconds)
        self.event_log.request(method=method, route=route, status=status, seconds=seconds)

    def require_allowed(self, parameters: Parameters) -> None:
        """Refuse a campaign with a larger δ than this service allows."""
        if exact(parameters.delta) > exact(self.dependencies.limits.most_delta):
            raise Problem.PARAMETERS_REFUSED.error(where="delta")

    async def plan_certificate(self, parameters: Parameters) -> Mapping[str, Any]:
        """Return a plan's privacy cost; refuse a plan that breaks its promise or has no proof."""
        found = self._plans.get(parameters)
        if found is None:
            found = await asyncio.to_thread(_certify, parameters)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[parameters] = found
        return found


def _certify(parameters: Parameters) -> Mapping[str, Any]:
    try:
        PRESETS[parameters.preset].require_provable(parameters)
        return planned_document(require_kept(certify_plan(parameters)))
    except ParameterError as error:
        raise Problem.PARAMETERS_REFUSED.error(where=error.name) from None
    except BrokenPromiseError:
        raise Problem.PROMISE_BROKEN.error() from None
