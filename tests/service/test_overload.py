"""What the service does when there is too much to do, or nothing to do it with."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from service.running import Service, a_campaign, running, slug_of
from service.test_ticker import ticker_of

from blender_dp.core.errors import ParameterError
from blender_dp.service.dependencies import Limits, TooMuchWorkError
from blender_dp.service.http.access import Rate, Role
from blender_dp.service.http.turns import MOST_WAITING
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Reason, StoreRefusal

pytestmark = pytest.mark.anyio
QUESTION = {"users": 10_000, "epsilon": 4, "delta": 1e-5}


_WRITES = ("add_reports", "add_singles", "put_campaign", "add_refusals")


class Full:
    """A store that refuses to write when it is told to."""

    def __init__(self, store: DatabaseStore) -> None:
        self._store, self.is_full = store, False

    def __getattr__(self, name: str) -> Any:
        if self.is_full and name in _WRITES:
            return self._refuse
        return getattr(self._store, name)

    async def _refuse(self, *_args: object, **_options: object) -> None:
        raise StoreRefusal(Reason.OVERLOADED)


async def test_overload_is_said_with_a_time_and_loses_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, store_of=Full) as service:
        published = await service.published()
        report = published.report()
        await service.send(published.campaign, {**report, "items": ""})
        store: Any = service.dependencies.store
        store.is_full = True
        for answer in (
            await service.send(published.campaign, report),
            await service.http.post("/v1/campaigns", json=a_campaign(), headers=service.as_role()),
        ):
            assert (answer.status_code, slug_of(answer)) == (503, "overloaded")
            assert int(answer.headers["retry-after"]) >= 1
        await ticker_of(service).flush()
        store.is_full = False
        assert (await service.send(published.campaign, report)).json()["accepted"] == 1
        await ticker_of(service).flush()
        assert (await service.progress(published.campaign))["refused"] == {"not-expressible": 1}


async def asked(service: Service, role: Role = Role.ANALYST, **changes: object) -> Any:
    return await service.http.post(
        "/v1/plan", json={**QUESTION, **changes}, headers=service.as_role(role)
    )


async def test_the_planner_answers_whoever_has_a_role(tmp_path: Path) -> None:
    questions: list[Mapping[str, Any]] = []

    def predict(question: Mapping[str, Any]) -> Mapping[str, Any]:
        questions.append(question)
        if question["opt_in"] > 0.9:
            raise ParameterError("opt_in", "smaller", question["opt_in"])
        return {"queries": 7}

    async with running(tmp_path, predict=predict) as service:
        answer = await asked(service)
        assert (answer.status_code, answer.json()) == (200, {"queries": 7})
        assert questions[0]["users"] == 10_000
        assert questions[0]["like"] == "aol"
        assert questions[0]["relay"] == 0
        assert (await asked(service, relay=0.4)).status_code == 200
        assert (questions[1]["relay"], questions[1]["relay_cap"]) == (0.4, 8.0)
        assert (await asked(service, relay=0.4, relay_cap=5.5)).status_code == 200
        assert questions[2]["relay_cap"] == 5.5
        for cap in (0, 65, "8", None):
            assert slug_of(await asked(service, relay_cap=cap)) == "body-not-understood"
        for wrong in (-0.1, 1.1, "0.4", None):
            assert slug_of(await asked(service, relay=wrong)) == "body-not-understood"
        assert questions[2]["known"] is False
        assert (await asked(service, known=True)).status_code == 200
        assert questions[3]["known"] is True
        for wrong in (1, "true", None):
            assert slug_of(await asked(service, known=wrong)) == "body-not-understood"
        assert slug_of(await asked(service, opt_in=0.95)) == "parameters-refused"
        assert slug_of(await asked(service, users=0)) == "body-not-understood"
        assert slug_of(await service.http.post("/v1/plan", json=QUESTION)) == "token-missing"


async def test_a_question_that_takes_too_much_has_its_problem(tmp_path: Path) -> None:
    def predict(_question: Mapping[str, Any]) -> Mapping[str, Any]:
        raise TooMuchWorkError

    async with running(tmp_path, predict=predict) as service:
        answer = await asked(service)
        assert (answer.status_code, slug_of(answer)) == (422, "plan-too-large")


async def test_one_question_is_answered_at_a_time_and_few_wait(tmp_path: Path) -> None:
    go_on, at_once, most_at_once = threading.Event(), 0, 0

    def predict(_question: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal at_once, most_at_once
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        go_on.wait(60)
        at_once -= 1
        return {}

    async with running(tmp_path, predict=predict) as service:
        questions = [asyncio.create_task(asked(service)) for _ in range(MOST_WAITING + 2)]
        refusals = asyncio.as_completed(questions, timeout=60)
        for refusal in (next(refusals), next(refusals)):  # both, before a place becomes free
            assert (await refusal).status_code == 503
        go_on.set()
        answers = await asyncio.gather(*questions)
    assert sorted(answer.status_code for answer in answers) == [200] * MOST_WAITING + [503] * 2
    assert most_at_once == 1


async def test_without_a_planner_that_is_said(service: Service) -> None:
    answer = await asked(service)
    assert (answer.status_code, slug_of(answer)) == (404, "planner-missing")


async def test_questions_to_the_planner_are_limited(tmp_path: Path) -> None:
    limits = Limits(plan=Rate(burst=1, per_second=1e-3))
    async with running(tmp_path, predict=lambda _question: {}, limits=limits) as service:
        assert [(await asked(service)).status_code for _ in range(2)] == [200, 429]
