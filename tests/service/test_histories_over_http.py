"""Whatever is asked of a campaign over HTTP, in any order and with restarts between, a model of a
few lines knows the answer."""

import asyncio
import os
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import httpx
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from service.running import NAMES, Published, running, slug_of

from blender_dp.service.campaign import Move, State
from blender_dp.wire.service.signed_head_list import read_signed_head_list
from campaign_stores import BY_OPERATORS

Answer = TypeVar("Answer")
USERS = 120
BY_JOBS = {State.OPT_IN_SEALED: State.LIST_PUBLISHED, State.CLIENTS_SEALED: State.RELEASED}
IDS = [os.urandom(16) for _ in range(12)]


class HistoryOverHttp(RuleBasedStateMachine):
    """One campaign with many opt-in users already, and what should have become of it."""

    def __init__(self) -> None:
        super().__init__()
        self._directory = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self.state = State.OPT_IN_OPEN
        self.contributed: dict[str, int] = {}
        self.withdrawn: set[str] = set()
        self.reported: set[bytes] = set()
        self.documents: dict[bytes, tuple[dict[str, Any], dict[str, Any]]] = {}
        self.start()

    def start(self) -> None:
        self.run(self._start())

    async def _start(self) -> None:
        self._is_over, is_up = asyncio.Event(), asyncio.Event()

        async def live() -> None:  # begins and ends in one task, as the framework wants it
            async with running(Path(self._directory.name)) as self.service:
                is_up.set()
                await self._is_over.wait()

        self._life = asyncio.create_task(live())
        async with asyncio.timeout(60):
            await is_up.wait()

    async def _stop(self) -> None:
        self._is_over.set()
        await self._life

    def run(self, asked: Coroutine[Any, Any, Answer]) -> Answer:
        return self._runner.run(asked)

    @initialize(moves=st.integers(0, len(BY_OPERATORS) - 1))
    def create(self, moves: int) -> None:
        """Begin anywhere on the way, or few histories would come to the end of it."""
        self.campaign = self.run(self.service.with_contributions(USERS))
        self.tokens = self.run(self.service.enrolled(self.campaign, 3))
        for _ in range(moves):
            self.report(set(IDS[:5]), is_other=False)
            self.move_on()
            self.work()

    @rule()
    def restart(self) -> None:
        self.run(self._stop())
        self.start()

    @rule(move=st.sampled_from(Move), origin=st.sampled_from(State))
    def move(self, move: Move, origin: State) -> None:
        if move is Move.PURGE and self.state is not State.RELEASED:
            return  # seldom, or nothing else happens
        answer = self.run(self.service.move(self.campaign, move, origin))
        if move is Move.PURGE and origin is self.state:
            assert answer.status_code == 200
            self.state = State.PURGED
        elif BY_OPERATORS.get(move, (None,))[0] is origin is self.state:
            assert answer.status_code == 200
            self.state = BY_OPERATORS[move][1]
        else:
            assert slug_of(answer) == "move-not-allowed"

    @rule()
    def move_on(self) -> None:
        for move, (origin, _) in BY_OPERATORS.items():
            if origin is self.state:
                self.move(move, origin)
                return

    @precondition(lambda self: self.state is State.RELEASED)
    @rule()
    def purge(self) -> None:
        self.move(Move.PURGE, State.RELEASED)

    @rule()
    def work(self) -> None:
        self.run(self.service.jobs_done())
        asked = {self.documents[one][0]["question"] for one in self.reported}
        if self.state is State.CLIENTS_SEALED and (len(self.reported) < 2 or "record" not in asked):
            return  # too few to release anything: the job has failed
        self.state = BY_JOBS.get(self.state, self.state)

    @rule(person=st.integers(0, 2), content=st.integers(0, 1))
    def contribute(self, person: int, content: int) -> None:
        token, (query, url) = self.tokens[person], NAMES[content]
        records = [{"query": query, "url": url}]
        answer = self.run(self.service.contribute(self.campaign, token, records=records))
        if self.state is not State.OPT_IN_OPEN:
            assert slug_of(answer) == "campaign-not-collecting"
        elif token in self.withdrawn:
            assert slug_of(answer) == "withdrawn"
        elif self.contributed.get(token, content) != content:
            assert slug_of(answer) == "already-contributed"
        else:
            assert answer.status_code == (200 if token in self.contributed else 201)
            self.contributed[token] = content

    @rule(person=st.integers(0, 2))
    def withdraw(self, person: int) -> None:
        token = self.tokens[person]
        path = f"/v1/campaigns/{self.campaign}/opt-in"
        bearer = {"authorization": f"Bearer {token}"}
        answer = self.run(self.service.http.delete(path, headers=bearer))
        if self.state is not State.OPT_IN_OPEN:
            assert slug_of(answer) == "campaign-not-collecting"
        else:
            assert answer.status_code == 204
            self.contributed.pop(token, None)
            self.withdrawn.add(token)

    @rule(ids=st.sets(st.sampled_from(IDS), min_size=1, max_size=4), is_other=st.booleans())
    def report(self, ids: set[bytes], is_other: bool) -> None:
        campaign = self._published()
        if campaign is None:
            return
        chosen = [self._documents(campaign, one)[is_other] for one in sorted(ids)]
        body = campaign.batch_of(chosen) if len(chosen) > 1 else chosen[0]
        answer = self.run(self.service.send(self.campaign, body))
        if self.state is not State.CLIENTS_OPEN:
            assert slug_of(answer) == "campaign-not-collecting"
        elif is_other and ids & self.reported:
            assert slug_of(answer) == "report-id-reused"
        elif not is_other:
            repeated = len(ids & self.reported)
            assert answer.json() == {"accepted": len(ids) - repeated, "repeated": repeated}
            self.reported |= ids
        else:  # nobody knew these ids: from now on this is their content
            assert answer.json() == {"accepted": len(ids), "repeated": 0}
            self.documents |= {one: self.documents[one][::-1] for one in ids}
            self.reported |= ids

    def _published(self) -> Published | None:
        """Return the campaign as devices see it, once there is a list."""
        answer = self.run(self.service.http.get(f"/v1/campaigns/{self.campaign}/head-list"))
        if answer.status_code != 200:
            return None
        head_list = read_signed_head_list(answer.json()).head_list
        return Published(campaign=self.campaign, head_list=head_list)

    def _documents(
        self, campaign: Published, report_id: bytes
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return two reports with one id and different content."""
        if report_id not in self.documents:
            first = other = campaign.report(report_id)
            while other == first:
                other = campaign.report(report_id)
            self.documents[report_id] = first, other
        return self.documents[report_id]

    @invariant()
    def the_service_agrees(self) -> None:
        assert self.run(self.service.state(self.campaign)) == self.state
        progress = self.run(self.service.progress(self.campaign))
        if self.state is not State.PURGED:
            assert progress["contributed"] == USERS + len(self.contributed)
            assert progress["withdrawn"] == len(self.withdrawn)
            assert sum(progress["reports"].values()) == len(self.reported)

    @invariant()
    def results_are_there_when_they_should_be(self) -> None:
        if self.state is not State.PURGED:
            assert (self._status("release") == 200) == (self.state is State.RELEASED)

    def _status(self, document: str) -> int:
        path = f"/v1/campaigns/{self.campaign}/{document}"
        answer: httpx.Response = self.run(self.service.http.get(path))
        return answer.status_code

    def teardown(self) -> None:
        self.run(self._stop())
        self._runner.close()
        self._directory.cleanup()


HistoryOverHttp.TestCase.settings = settings(max_examples=10, stateful_step_count=30)
TestHistoriesOverHttp = HistoryOverHttp.TestCase
