"""Whatever is done to a campaign, in any order and with restarts between, its store agrees with a
model of a few lines."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from blender_dp.service.campaign import MADE_BY_JOBS, JobKind, Move, State
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Chain, Reason, StoreRefusal
from blender_dp.wire.service.hash_chain import entry_hash
from campaign_stores import (
    BY_OPERATORS,
    CELLS,
    NOW,
    a_campaign,
    a_contribution,
    a_list,
    a_release,
    erased,
    some_reports,
)

Answer = TypeVar("Answer")
PEOPLE = [bytes([i]) * 32 for i in range(4)]
RESULTS = {JobKind.HEAD_LIST: a_list, JobKind.RELEASE: a_release, JobKind.ERASE: erased}
BY_JOBS = {JobKind.HEAD_LIST: State.LIST_PUBLISHED, JobKind.RELEASE: State.RELEASED}


class CampaignHistory(RuleBasedStateMachine):
    """One campaign in a SQLite file, and what should have become of it."""

    def __init__(self) -> None:
        super().__init__()
        self._directory = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self.store = self.open()
        self.state = State.DRAFT
        self.jobs: list[JobKind] = []
        self.contributed: dict[bytes, bytes] = {}
        self.withdrawn: set[bytes] = set()
        self.reports: dict[int, int] = {}
        self.is_counted = True

    def open(self) -> DatabaseStore:
        return self.run(open_store(str(Path(self._directory.name) / "campaigns.sqlite")))

    def run(self, asked: Awaitable[Answer]) -> Answer:
        async def answered() -> Answer:
            return await asked

        return self._runner.run(answered())

    def refusal(self, asked: Awaitable[object]) -> Reason | None:
        try:
            self.run(asked)
        except StoreRefusal as refusal:
            return refusal.reason
        return None

    @initialize(moves=st.integers(0, len(BY_OPERATORS)))
    def create(self, moves: int) -> None:
        """Begin anywhere on the way, or few histories would come to the end of it."""
        self.campaign = a_campaign()
        self.run(self.store.put_campaign(self.campaign, actor="ada"))
        self.run(self.store.add_enrolments(self.campaign.id, PEOPLE))
        for _ in range(moves):
            self.move_on()
            self.contribute(PEOPLE[0], b"one")
            self.report([0, 1], cell=2)
            self.work(is_restarted=False)

    @rule()
    def restart(self) -> None:
        self.run(self.store.close())
        self.store = self.open()

    @rule(move=st.sampled_from(Move), origin=st.sampled_from(State))
    def move_from_anywhere(self, move: Move, origin: State) -> None:
        if move is not Move.PURGE or origin is State.RELEASED:  # seldom, or nothing else happens
            self._move(move, origin)

    @rule()
    def move_on(self) -> None:
        for move, (origin, _) in BY_OPERATORS.items():
            if origin is self.state:
                self._move(move, origin)
                return

    @precondition(lambda self: self.state is State.RELEASED)
    @rule()
    def purge(self) -> None:
        self._move(Move.PURGE, State.RELEASED)

    def _move(self, move: Move, origin: State) -> None:
        asked = self.store.move(self.campaign.id, move, origin=origin, actor="ada", now=NOW)
        refused = self.refusal(asked)
        if move is Move.PURGE and origin is self.state is not State.PURGED:
            assert refused is None
            self.state, self.jobs = State.PURGED, [JobKind.ERASE]
            self.contributed, self.is_counted = {}, False
        elif move in BY_OPERATORS and BY_OPERATORS[move][0] is origin is self.state:
            assert refused is None
            self.state = BY_OPERATORS[move][1]
            self.jobs += {
                State.OPT_IN_SEALED: [JobKind.HEAD_LIST],
                State.CLIENTS_SEALED: [JobKind.RELEASE],
            }.get(self.state, [])
        else:
            assert refused is Reason.MOVE_NOT_ALLOWED
            assert move in MADE_BY_JOBS or self.state in State

    @rule(person=st.sampled_from(PEOPLE), content=st.sampled_from([b"one", b"another"]))
    def contribute(self, person: bytes, content: bytes) -> None:
        asked = self.store.contribute(self.campaign.id, a_contribution(person, content))
        refused = self.refusal(asked)
        if self.state is not State.OPT_IN_OPEN:
            assert refused is Reason.NOT_COLLECTING
        elif person in self.withdrawn:
            assert refused is Reason.WITHDRAWN
        elif self.contributed.get(person, content) != content:
            assert refused is Reason.ALREADY_CONTRIBUTED
        else:
            assert refused is None
            self.contributed[person] = content

    @rule(person=st.sampled_from(PEOPLE))
    def withdraw(self, person: bytes) -> None:
        refused = self.refusal(self.store.withdraw(self.campaign.id, person))
        if self.state is not State.OPT_IN_OPEN:
            assert refused is Reason.NOT_COLLECTING
        else:
            assert refused is None
            self.contributed.pop(person, None)
            self.withdrawn.add(person)

    @rule(
        numbers=st.lists(st.integers(0, 15), min_size=1, max_size=4, unique=True),
        cell=st.integers(0, CELLS - 1),
    )
    def report(self, numbers: list[int], cell: int) -> None:
        tag = b"cell %3d" % cell
        given = some_reports(numbers, cells=[cell] * len(numbers), tag=tag)
        refused = self.refusal(self.store.add_reports(self.campaign.id, given))
        if self.state is not State.CLIENTS_OPEN:
            assert refused is Reason.NOT_COLLECTING
        elif any(self.reports.get(number, cell) != cell for number in numbers):
            assert refused is Reason.REPORT_ID_REUSED
        else:
            assert refused is None
            self.reports |= dict.fromkeys(numbers, cell)

    @rule(is_restarted=st.booleans())
    def work(self, is_restarted: bool) -> None:
        lease = self.run(self.store.lease_job("worker"))
        assert (lease is None) == (not self.jobs)
        if lease is None:
            return
        assert lease.job.kind is self.jobs[0]
        if is_restarted:  # the worker dies; another takes over when the lease has run out
            self.restart()
            (running,) = self.run(self.store.running_jobs())
            lease = self.run(self.store.take_over(running, "other"))
            assert lease is not None
        self.run(self.store.finish(lease, RESULTS[lease.job.kind](), now=NOW))
        self.jobs.pop(0)
        if lease.job.kind in BY_JOBS:
            self.state = BY_JOBS[lease.job.kind]
            self.contributed = {}
            self.jobs.append(JobKind.ERASE)

    @invariant()
    def the_store_agrees(self) -> None:
        stored = self.run(self.store.campaign(self.campaign.id))
        assert stored == replace(self.campaign, state=self.state, moved_at=stored.moved_at)
        counts = self.run(self.store.report_counts(self.campaign.id))
        named = Counter(self.reports.values() if self.is_counted else [])
        assert counts.cells.tolist() in ([], [named[cell] for cell in range(CELLS)])
        assert counts.cell_reports == named.total()
        assert self.run(self._contributions()) == self.contributed

    @invariant()
    def the_logs_are_chained(self) -> None:
        for chain in Chain:
            entries = self.run(self.store.log_entries(chain, start=0, limit=1000))
            before = [None, *(entry["hash"] for entry in entries)][: len(entries)]
            assert [entry["previous"] for entry in entries] == before
            assert all(entry_hash(entry) == entry["hash"] for entry in entries)

    async def _contributions(self) -> dict[bytes, bytes]:
        return {
            one.enrolment: one.encrypted
            async for piece in self.store.contributions(self.campaign.id)
            for one in piece
        }

    def teardown(self) -> None:
        self.run(self.store.close())
        self._runner.close()
        self._directory.cleanup()


CampaignHistory.TestCase.settings = settings(max_examples=50, stateful_step_count=40)
TestCampaignHistories = CampaignHistory.TestCase
