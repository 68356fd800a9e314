"""Nobody is in both groups of a campaign, and nobody contributes twice: whatever gets lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from client.stand_in import (
    CAMPAIGN,
    CONSENT,
    OTHER_CAMPAIGN,
    START,
    Clock,
    InProcess,
    StandIn,
    problem,
)

from blender_dp.client import (
    BlenderClient,
    ClientPolicy,
    RefusedError,
    Rule,
    ServiceRefusalError,
    UnreachableError,
)
from blender_dp.core.errors import BlenderError, InputError
from blender_dp.core.head_list.head_list import Record

A, B = "https://a.example", "https://b.example"
RECORDS = (Record("weather", "w.example"),)
POLICY = ClientPolicy(most_epsilon=64.0, most_delta=0.5)


class Person:
    """A device over one ledger, towards any address."""

    def __init__(self, directory: Path) -> None:
        self.service, self.clock, self.directory = StandIn(), Clock(), directory
        self.transport = InProcess(self.service)
        self.service.state = "opt-in-open"

    def device(self, url: str = A, policy: ClientPolicy = POLICY) -> BlenderClient:
        return BlenderClient(
            url, self.directory, policy=policy, transport=self.transport, now=self.clock
        )

    def contribute(self, url: str = A) -> None:
        self.service.state = "opt-in-open"
        self.device(url).enrol(CAMPAIGN)
        self.device(url).contribute(CAMPAIGN, RECORDS, agreed=CONSENT)

    def report(self, url: str = A) -> None:
        self.service.state = "clients-open"
        self.device(url).report(CAMPAIGN, "query 001", "1.example")

    def refuse_report(self, url: str = A) -> None:
        with pytest.raises(RefusedError) as refusal:
            self.report(url)
        assert refusal.value.rule is Rule.ROLE
        assert self.service.bodies == []


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_who_contributed_does_not_report(person: Person) -> None:
    person.contribute()
    person.refuse_report()
    person.refuse_report(B)  # a campaign is the same under any address


def test_who_may_have_contributed_does_not_report(person: Person) -> None:
    person.transport.lost = ["GET", "POST"]
    person.device().enrol(CAMPAIGN, "given")
    with pytest.raises(UnreachableError):
        person.contribute()  # nothing was sent yet: the description did not come
    assert person.device().ledger().contributions == ()
    with pytest.raises(UnreachableError):
        person.contribute()
    assert len(person.service.uploads) == 1
    person.refuse_report()


@pytest.mark.parametrize("status", [400, 403, 409, 413])
def test_a_refused_upload_may_have_arrived(person: Person, status: int) -> None:
    person.service.opt_in_answers = [(status, problem("x"), {})]
    with pytest.raises(ServiceRefusalError):
        person.contribute()
    person.refuse_report()


def test_a_confirmed_withdrawal_lets_report(person: Person) -> None:
    person.contribute()
    person.device().withdraw(CAMPAIGN)
    person.report()
    assert len(person.service.bodies) == 1
    spending = person.device().ledger()
    assert spending.spent == 8.0 + 2.0  # what was debited stays
    with pytest.raises(BlenderError, match="withdrew"):
        person.contribute()


def test_an_unconfirmed_withdrawal_does_not(person: Person) -> None:
    person.contribute()
    person.transport.lost = ["DELETE"]
    with pytest.raises(UnreachableError):
        person.device().withdraw(CAMPAIGN)
    person.refuse_report()
    person.service.opt_in_answers = [(409, problem("campaign-not-collecting"), {})]
    with pytest.raises(ServiceRefusalError):
        person.device().withdraw(CAMPAIGN)
    person.refuse_report()


def test_another_address_cannot_confirm_a_withdrawal(person: Person) -> None:
    person.contribute()
    with pytest.raises(BlenderError, match="another address"):
        person.device(B).withdraw(CAMPAIGN)
    assert ("DELETE", f"campaigns/{CAMPAIGN}/opt-in", "t" * 43) not in person.service.requests
    person.refuse_report()


def test_who_reported_does_not_contribute(person: Person) -> None:
    person.report()
    with pytest.raises(RefusedError, match="reported to the campaign"):
        person.contribute()
    assert person.service.uploads == []


@pytest.mark.parametrize("is_lost", [False, True])
def test_forgetting_keeps_what_was_spent(person: Person, is_lost: bool) -> None:
    if is_lost:
        person.device().enrol(CAMPAIGN)
        person.transport.lost = ["POST"]
        with pytest.raises(UnreachableError):
            person.contribute()
    else:
        person.contribute()
    person.device().forget()
    person.refuse_report()
    with pytest.raises(RefusedError, match="forgot"):
        person.contribute()
    assert len(person.service.uploads) == 1
    assert person.device().ledger().spent == 8.0


def test_a_forgotten_report_is_not_drawn_again(person: Person) -> None:
    person.service.report_answers = [(503, {}, {})]
    with pytest.raises(UnreachableError):
        person.report()
    [kept] = person.device().ledger().reports
    person.device().forget()
    with pytest.raises(RefusedError, match="deleted its report"):
        person.report()
    assert person.device().resend() == ()
    [row] = person.device().ledger().reports
    assert (row.epsilon, row.body) == (kept.epsilon, b"")
    assert kept.body not in (person.directory / "ledger.sqlite").read_bytes()


def test_a_second_contribution_with_other_records_never_leaves(person: Person) -> None:
    person.contribute()
    person.service.state = "opt-in-open"
    with pytest.raises(RefusedError, match="another contribution"):
        person.device().contribute(CAMPAIGN, (), agreed=CONSENT)
    assert len(person.service.uploads) == 1


def test_a_contribution_is_debited_before_it_is_sent(person: Person) -> None:
    seen: list[tuple[str, str, str]] = []

    def look(method: str, path: str) -> None:
        if (method, path.endswith("opt-in")) == ("POST", True):
            rows = person.device().ledger().contributions
            seen.extend((row.epsilon, row.delta, row.state) for row in rows)

    person.transport.on_send = look
    person.contribute()
    assert seen == [("8.000000", "1/100000", "unsent")]
    [row] = person.device().ledger().contributions
    assert (row.state, row.time) == ("sent", START)


def test_contributions_and_reports_share_one_budget(person: Person) -> None:
    person.contribute()
    tight = ClientPolicy(most_epsilon=9.0)
    person.service.state = "clients-open"
    with pytest.raises(RefusedError, match="1 of 9 is left"):
        person.device(policy=tight).report(OTHER_CAMPAIGN, None, None)
    assert person.service.bodies == []


def test_the_delta_of_contributions_adds_up(person: Person) -> None:
    policy = ClientPolicy(most_epsilon=64.0, most_delta=1.5e-5)
    person.contribute()
    person.device().enrol(OTHER_CAMPAIGN)
    with pytest.raises(RefusedError, match="δ of all contributions"):
        person.device(policy=policy).contribute(OTHER_CAMPAIGN, RECORDS, agreed=CONSENT)
    assert len(person.service.uploads) == 1
    person.clock.pass_days(90)
    person.device(policy=policy).contribute(OTHER_CAMPAIGN, RECORDS, agreed=CONSENT)


@pytest.mark.parametrize(
    "state", ["list-published", "clients-sealed", "released", "purged", "one of a later version"]
)
def test_a_campaign_that_takes_nothing_gets_no_draw(person: Person, state: str) -> None:
    person.service.state = state
    with pytest.raises(RefusedError) as refusal:
        person.device().report(CAMPAIGN, None, None)
    assert refusal.value.rule is Rule.NOT_OPEN
    person.service.state = "opt-in-sealed"
    person.device().enrol(CAMPAIGN)
    with pytest.raises(RefusedError) as refusal:
        person.device().contribute(CAMPAIGN, RECORDS, agreed=CONSENT)
    assert refusal.value.rule is Rule.NOT_OPEN
    assert person.device().ledger().spent == 0
    person.report()


def test_a_description_that_changed_after_the_contribution_is_refused(person: Person) -> None:
    person.contribute()
    person.device().withdraw(CAMPAIGN)
    changed = {**person.service.described(CAMPAIGN), "purpose": "sell it"}
    person.service.descriptions[CAMPAIGN] = changed
    person.service.publish()  # bound to the changed description
    with pytest.raises(RefusedError) as refusal:
        person.report()
    assert refusal.value.rule is Rule.CHANGED


def test_a_contribution_that_no_service_takes_costs_nothing(tmp_path: Path) -> None:
    """Each record is within its limits, all of them together are not."""
    person = Person(tmp_path)
    person.device().enrol(CAMPAIGN)
    long = tuple(Record(f"{i}" + "q" * 2000, "u" * 8000) for i in range(500))
    with pytest.raises(InputError, match="at most 4 MiB"):
        person.device().contribute(CAMPAIGN, long, agreed=CONSENT)
    assert person.device().ledger().spent == 0
    person.contribute()


def meanwhile(person: Person, act: Callable[[], None]) -> None:
    """Let another process act while this one waits for its next answer."""

    def interrupt(_method: str, _path: str) -> None:
        person.transport.on_send = lambda _method, _path: None
        person.clock.pass_days(1)
        act()

    person.transport.on_send = interrupt


def test_two_processes_contribute_the_same_bytes(person: Person) -> None:
    """The second one asked first, and took note of another time of consent."""
    person.device().enrol(CAMPAIGN)
    meanwhile(person, person.contribute)
    person.contribute()
    person.contribute()
    assert len(person.service.uploads) == 3
    assert len(set(person.service.uploads)) == 1


def test_two_processes_enrol_with_one_token(person: Person) -> None:
    """What was contributed with a token can be withdrawn with that one only."""

    def other_process() -> None:
        person.device().enrol(CAMPAIGN, "given")
        person.contribute()

    meanwhile(person, other_process)
    person.device().enrol(CAMPAIGN)
    person.contribute()
    assert {token for _, path, token in person.service.requests if "opt-in" in path} == {"given"}


def test_what_was_forgotten_meanwhile_stays_so(person: Person) -> None:
    person.device().enrol(CAMPAIGN)
    meanwhile(person, person.device().forget)
    with pytest.raises(BlenderError, match="not enrolled"):
        person.contribute()
    assert person.device().ledger().spent == 0

    def other_process() -> None:
        person.contribute()
        person.device().forget()

    meanwhile(person, other_process)
    person.device().enrol(CAMPAIGN)
    with pytest.raises(BlenderError, match="not enrolled"):
        person.device().withdraw(CAMPAIGN)
    person.refuse_report()
