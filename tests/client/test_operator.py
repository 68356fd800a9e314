"""Moving and watching a campaign: what was done already is not done twice, and waits end."""

import json
from typing import Any

import pytest
from client.stand_in import CAMPAIGN

from blender_dp.client.operator import Operator
from blender_dp.client.transport import Answer, ServiceRefusalError
from blender_dp.core.errors import BlenderError

TOKEN = "a" * 43


class Scripted:
    """A service whose campaign stands in one state after the other."""

    def __init__(self, *states: str, jobs: list[dict[str, Any]] | None = None) -> None:
        self.states, self.jobs = list(states), jobs or []
        self.refusal: ServiceRefusalError | None = None
        self.id_made: str | None = None
        self.posted: list[tuple[str, Any]] = []

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        if method == "POST":
            assert token == TOKEN
            self.posted.append((path, json.loads(body or b"")))
            if self.refusal:
                raise self.refusal
            count = self.posted[-1][1].get("count", 0)
            return answer({"tokens": ["t"] * count})
        if method == "PUT":
            assert token == TOKEN
            return answer({"id": self.id_made or path.removeprefix("campaigns/")})
        if path.endswith("/progress"):
            return answer({"jobs": self.jobs})
        return answer({"state": self.states.pop(0) if len(self.states) > 1 else self.states[0]})


def answer(document: dict[str, Any]) -> Answer:
    return Answer(status=200, content=json.dumps(document).encode())


class Waiting:
    """A clock that passes only by waiting."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def operator(service: Scripted, waiting: Waiting | None = None) -> Operator:
    waiting = waiting or Waiting()
    return Operator(
        transport=service, token=TOKEN, now=lambda: waiting.seconds, sleep=waiting.sleep
    )


def test_waiting_ends_when_the_state_is_reached_or_passed() -> None:
    waiting = Waiting()
    service = Scripted("opt-in-open", "opt-in-sealed", "clients-open")
    operator(service, waiting).wait_for(CAMPAIGN, "list-published", seconds=10)
    assert waiting.seconds == 0.5


def test_waiting_has_an_end() -> None:
    sentence = "the campaign is still draft after 5 seconds, not released"
    with pytest.raises(BlenderError, match=sentence):
        operator(Scripted("draft")).wait_for(CAMPAIGN, "released", seconds=5)


def test_a_failed_job_is_told_at_once() -> None:
    jobs = [{"kind": "head-list", "state": "failed", "failure": "too-few-opt-in-users"}]
    service = Scripted("opt-in-sealed", jobs=jobs)
    with pytest.raises(BlenderError, match="the job head-list failed: too-few-opt-in-users"):
        operator(service).wait_for(CAMPAIGN, "list-published", seconds=5)


def test_a_failed_job_that_is_retried_is_waited_for() -> None:
    jobs: list[dict[str, Any]] = [
        {"kind": "head-list", "state": "failed", "failure": "gave-up"},
        {"kind": "head-list", "state": "running", "failure": None},
    ]
    service = Scripted("opt-in-sealed", "list-published", jobs=jobs)
    operator(service).wait_for(CAMPAIGN, "list-published", seconds=60)


def test_a_campaign_that_was_given_up_is_not_waited_for() -> None:
    with pytest.raises(BlenderError, match="purged"):
        operator(Scripted("purged")).wait_for(CAMPAIGN, "released", seconds=5)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(BlenderError, match="does not know"):
        operator(Scripted("paused")).place(CAMPAIGN)


def test_a_move_whose_answer_was_lost_counts_as_made() -> None:
    service = Scripted("opt-in-open")
    service.refusal = ServiceRefusalError(409, "move-not-allowed")
    operator(service).move(CAMPAIGN, "open-opt-in", origin="draft")
    assert service.posted == [
        (f"campaigns/{CAMPAIGN}/moves", {"move": "open-opt-in", "from": "draft"})
    ]


@pytest.mark.parametrize(
    ("status", "state"), [(409, "draft"), (403, "opt-in-open")], ids=["not-moved", "not-allowed"]
)
def test_a_move_that_was_refused_is_told(status: int, state: str) -> None:
    service = Scripted(state)
    service.refusal = ServiceRefusalError(status, "x")
    with pytest.raises(ServiceRefusalError):
        operator(service).move(CAMPAIGN, "open-opt-in", origin="draft")


def test_tokens_are_made_ten_thousand_at_a_time() -> None:
    service = Scripted("opt-in-open")
    assert len(operator(service).enrolment_tokens(CAMPAIGN, 25_000)) == 25_000
    assert [wanted["count"] for _, wanted in service.posted] == [10_000, 10_000, 5_000]


def test_a_new_campaign_has_the_id_that_was_asked_for() -> None:
    service = Scripted("draft")
    one, other = (operator(service).create({"name": "x"}) for _ in range(2))
    assert one != other
    service.id_made = str(CAMPAIGN)
    with pytest.raises(BlenderError, match="the service created no campaign"):
        operator(service).create({"name": "x"})
