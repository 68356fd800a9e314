"""Any history of a device: what services can have received costs at most what its ledger says.

Contributions, reports, relayed reports, withdrawals and ``forget`` come in any order, to two
addresses; requests and answers get lost, refusals come, the process dies at every checkpoint, the
file is moved, time passes. ``BLENDER_STEPS`` asks for more than the 10,000 steps of every run.

Every history begins with one of ``BEGINNINGS``. For each rule that the tests below break there is a
beginning that breaks the promise without it, so that a broken rule is noticed in every run: all of
1,000 histories miss one of ten beginnings with probability 0.9^1000 = 10⁻⁴⁶.
"""

import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import pytest
from client.remembering_services import (
    ADDRESSES,
    CAMPAIGNS,
    COSTS,
    RELAY_COST,
    Connection,
    Services,
)
from client.stand_in import CONSENT, Clock
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from blender_dp.client import BlenderClient, ClientPolicy
from blender_dp.client.ledger.ledger import Ledger
from blender_dp.client.opt_in import OptIn
from blender_dp.client.policy import Cost
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import Record

STEPS = int(os.environ.get("BLENDER_STEPS", "10000"))
STEPS_AT_ONCE, RULES_OF_ONE = 10, 6
DONE: Counter[str] = Counter()
"""Steps that were made, by their kind."""
POLICY = ClientPolicy(
    smallest_list=2,
    most_epsilon=5.0,
    most_delta=1.5e-5,
    most_relay_epsilon=2.5,
    most_relay_total=4.0,
    window=timedelta(days=30),
    shortest_interval=timedelta(days=1),
)
POINTS = ("after-draw", "before-commit", "after-commit", "before-send", "after-send")
records = st.sampled_from([(), (Record("query 000", "1.example"),)])
mishaps = st.sampled_from(
    [
        *["none"] * 4,
        *("request lost", "answer lost"),
        *("400", "404", "409", "429", "503"),
        *POINTS,
    ]
)


class Died(BaseException):
    """The process was killed."""


OPEN: dict[Path, sqlite3.Connection] = {}


@contextmanager
def on_a_kept_connection(ledger: Ledger) -> Iterator[sqlite3.Connection]:
    """Give a transaction of a ledger on a connection that stays open and waits for no disk.

    What a device does is tested here, thousands of times; what a disk keeps is tested elsewhere.
    """
    path = ledger._path
    if path not in OPEN:
        OPEN[path] = sqlite3.connect(path, isolation_level=None)
        OPEN[path].execute("PRAGMA synchronous = OFF")
        OPEN[path].execute("PRAGMA journal_mode = MEMORY")
    database = OPEN[path]
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


Action = tuple[str, UUID, str, str, tuple[Record, ...], float]
actions = st.tuples(
    st.sampled_from(
        [
            *["contribute"] * 4,
            *["report"] * 4,
            *["relay"] * 4,
            *("withdraw", "withdraw", "resend", "forget", "move the file", "wait", "wait"),
        ]
    ),
    st.sampled_from(CAMPAIGNS),
    st.sampled_from(ADDRESSES),
    mishaps,
    records,
    st.sampled_from([0.5, 1.0, 7.0, 29.0, 30.0]),
)
FIRST, SECOND, THIRD = CAMPAIGNS
SOME = (Record("query 000", "1.example"),)


def step(name: str, campaign: UUID = FIRST, mishap: str = "none", days: float = 1.0) -> Action:
    """Return one step at the first address."""
    return name, campaign, ADDRESSES[0], mishap, SOME, days


BEGINNINGS: dict[str, tuple[Action, ...]] = {
    "nothing": (),
    "two groups, local report last": (step("contribute"), step("report")),
    "two groups, relayed report last": (step("contribute"), step("relay")),
    "two groups, contribution last": (step("report"), step("contribute")),
    "two groups, contribution after relay": (step("relay"), step("contribute")),
    "two reports": (step("relay"), step("wait"), step("report")),
    "too much ε of reports": tuple(
        act for one in CAMPAIGNS for act in (step("report", one), step("wait"))
    ),
    "too much δ": (step("contribute", FIRST), step("contribute", SECOND)),
    "too much ε0": (step("relay", FIRST), step("wait"), step("relay", SECOND)),
    "forgotten": (
        *(step("relay", FIRST, "answer lost"), step("forget"), step("wait"), step("relay")),
    ),
    "withdrawal refused": (step("contribute"), step("withdraw", FIRST, "503"), step("report")),
}
"""Histories that a broken rule does not survive, by what they try."""


class DeviceHistory(RuleBasedStateMachine):
    """One person's device, and two services that remember everything."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.directory = self.place / "0"
        self.services, self.clock, self.moves = Services(), Clock(), 0

    def teardown(self) -> None:
        for path in [path for path in OPEN if path.is_relative_to(self.place)]:
            OPEN.pop(path).close()
        shutil.rmtree(self.place)

    @initialize(beginning=st.sampled_from(sorted(BEGINNINGS)))
    def begin(self, beginning: str) -> None:
        self.live_through(BEGINNINGS[beginning])

    @rule(some=st.lists(actions, min_size=STEPS_AT_ONCE, max_size=STEPS_AT_ONCE))
    def live(self, some: list[Action]) -> None:
        self.live_through(some)

    def live_through(self, some: Sequence[Action]) -> None:
        for name, campaign, address, mishap, given, days in some:
            if name == "wait":
                self.clock.pass_days(days)
            elif name == "move the file":
                self.move_the_file()
            else:
                self.act(name, campaign, address, mishap, given)
            DONE[name] += 1
            self.require_what_is_promised()

    def act(
        self, name: str, campaign: UUID, address: str, mishap: str, given: tuple[Record, ...]
    ) -> None:
        """Let a process start, do one thing and end, well or not."""

        def checkpoint(point: str) -> None:
            if point == mishap:
                raise Died

        self.services.mishap = "none" if mishap in POINTS else mishap
        is_report = name in ("report", "relay")
        self.services.state = "clients-open" if is_report else "opt-in-open"
        device = BlenderClient(
            address,
            self.directory,
            policy=POLICY,
            transport=Connection(self.services, address),
            now=self.clock,
            checkpoint=checkpoint,
        )
        with suppress(BlenderError, Died):
            if name == "contribute":
                device.enrol(campaign)
                device.contribute(campaign, given, agreed=CONSENT)
            elif name == "report":
                device.report(campaign, "query 000", "1.example")
            elif name == "relay":
                device.report(campaign, "query 000", "1.example", through_relay=True)
            elif name == "withdraw":
                device.withdraw(campaign)
            elif name == "resend":
                device.resend()
            else:
                device.forget()

    def move_the_file(self) -> None:
        """Go on with a copy elsewhere, as after a move to a new machine."""
        self.moves += 1
        moved = self.place / str(self.moves)
        if self.directory.exists():
            shutil.copytree(self.directory, moved)
        self.directory = moved

    def require_what_is_promised(self) -> None:
        rows = Ledger(self.directory, lambda _: None).rows()
        debited = Counter({(row.campaign, row.role): Fraction(row.epsilon) for row in rows})
        together = Counter({row.campaign: Fraction(row.relay_epsilon) for row in rows})
        received = self.services
        # What the services can have received costs at most what the ledger says.
        for campaign, bodies in received.reports.items():
            assert len(bodies) * COSTS[campaign] <= debited[campaign, "report"]
        for campaign, bodies in received.relayed.items():
            assert len(bodies) * Fraction(1, 2) <= debited[campaign, "relayed"]
            assert len(bodies) * RELAY_COST <= together[campaign]
        for campaign, sent in received.contributions.items():
            assert len(sent) * Fraction(2) <= debited[campaign, "contribution"]
        # Nobody is in two groups: a contribution was withdrawn where a report was received.
        assert not received.reports.keys() & received.relayed.keys()
        reported = received.reports.keys() | received.relayed.keys()
        for campaign in reported & received.contributions.keys():
            live = {(address, token) for address, token, _ in received.contributions[campaign]}
            assert live <= received.withdrawn.get(campaign, set())
        # The ledger keeps to its caps.
        young = [row for row in rows if row.time > self.clock() - POLICY.window]
        assert sum(Fraction(row.epsilon) for row in young) <= Fraction(5)
        deltas = [Fraction(row.delta) for row in young if row.role != "report"]
        assert sum(deltas) <= Fraction(15, 10**6)
        assert sum(Fraction(row.relay_epsilon) for row in young) <= Fraction(4)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return how to live through many histories, with so many steps altogether."""
    monkeypatch.setattr(Ledger, "_transaction", on_a_kept_connection)

    def run_steps(steps: int) -> None:
        DONE.clear()
        run_state_machine_as_test(
            DeviceHistory,
            settings=settings(
                max_examples=max(steps // (RULES_OF_ONE * STEPS_AT_ONCE), 1),
                stateful_step_count=RULES_OF_ONE,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],  # a failure names its steps; shrinking takes minutes
                database=None,
            ),
        )

    return run_steps


def test_no_history_receives_more_than_was_debited(run: Callable[[int], None]) -> None:
    run(STEPS)
    assert DONE.total() >= STEPS // 2, DONE


@pytest.mark.parametrize("name", BEGINNINGS)
def test_every_beginning_keeps_the_promise(name: str) -> None:
    live_through_beginning(name)


def live_through_beginning(name: str) -> None:
    """Live through one beginning, and nothing else."""
    history = DeviceHistory()
    try:
        history.live_through(BEGINNINGS[name])
    finally:
        history.teardown()


def breaks_the_promise(name: str) -> bool:
    """Tell whether a beginning shows that a rule is broken."""
    try:
        live_through_beginning(name)
    except AssertionError:
        return True
    return False


def nothing_is_refused(*_: object, **__: object) -> None:
    """Stand in for a rule that somebody removed."""


def forget_everything(ledger: Ledger) -> None:
    """Stand in for forgetting that takes the rows with it."""
    with ledger._transaction() as database:
        database.execute("DELETE FROM debits")
        database.execute("DELETE FROM enrolments")


def costing_nothing_together(_: object) -> Cost:
    """Stand in for a relayed report whose ε0 is not debited."""
    return Cost(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))


def withdraw_unasked(opt_in: OptIn, campaign: UUID) -> None:
    """Stand in for a withdrawal that is noted before the service confirmed it."""
    enrolment = opt_in._enrolment(campaign)
    opt_in.ledger.set_state(campaign, "contribution", "withdrawn")
    opt_in.transport.send("DELETE", f"campaigns/{campaign}/opt-in", token=enrolment.token)


@pytest.mark.parametrize(
    ("where", "broken"),
    [
        ("blender_dp.client.reports.reporting.require_one_group", nothing_is_refused),
        ("blender_dp.client.opt_in.require_one_group", nothing_is_refused),
        ("blender_dp.client.opt_in.require_affordable", nothing_is_refused),
        ("blender_dp.client.reports.reporting.require_affordable", nothing_is_refused),
        ("blender_dp.client.reports.reporting.require_relay_budget", nothing_is_refused),
        ("blender_dp.client.policy.Cost.of_relayed", costing_nothing_together),
        ("blender_dp.client.ledger.ledger.Ledger.forget", forget_everything),
        ("blender_dp.client.opt_in.OptIn.withdraw", withdraw_unasked),
    ],
    ids=lambda what: what if isinstance(what, str) else "",
)
def test_a_broken_rule_is_noticed(
    run: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, where: str, broken: object
) -> None:
    monkeypatch.setattr(where, broken)
    assert any(breaks_the_promise(name) for name in BEGINNINGS)
    with pytest.raises(AssertionError):
        run(60_000)  # ends at the first failure
