"""Reports that are sent again: each by itself, and none is called refused that may have arrived."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from client.conftest import MakeDevice
from client.stand_in import Clock, InProcess, StandIn, problem

from blender_dp.client import BlenderClient, ClientPolicy, ServiceRefusalError, UnreachableError
from blender_dp.core.errors import BlenderError, InputError

FIRST, SECOND, THIRD = (UUID(int=number) for number in (1, 2, 3))
POLICY = ClientPolicy(most_epsilon=64.0)
SEALED: tuple[int, dict[str, str], dict[str, str]] = (409, problem("campaign-not-collecting"), {})


class Person:
    """A device whose three reports are drawn and have not left yet."""

    def __init__(self, directory: Path) -> None:
        self.service, self.clock = StandIn(), Clock()
        self.transport = InProcess(self.service)
        self.device = BlenderClient(
            "https://a.example",
            directory,
            policy=POLICY,
            transport=self.transport,
            now=self.clock,
        )
        self.fail_reports(lambda _: UnreachableError("away"))
        for campaign in (FIRST, SECOND, THIRD):
            with pytest.raises(UnreachableError):
                self.device.report(campaign, None, None)
            self.clock.pass_days(8)
        self.transport.on_send = lambda _method, _path: None

    def fail_reports(self, error: Callable[[str], BlenderError | None]) -> None:
        """Raise an error, if there is one for a path, instead of sending a report."""

        def interrupt(method: str, path: str) -> None:
            if method == "POST" and (raised := error(path)) is not None:
                raise raised

        self.transport.on_send = interrupt

    def states(self) -> list[str]:
        return [row.state for row in self.device.ledger().reports]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@pytest.mark.parametrize(
    "error",
    [
        ServiceRefusalError(404, "unknown-campaign"),
        UnreachableError("the service failed; try again later"),
        InputError("the answer", "must be at most 256 MiB"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_one_campaign_does_not_hold_up_the_others(person: Person, error: BlenderError) -> None:
    person.fail_reports(lambda path: error if str(FIRST) in path else None)
    with pytest.raises(type(error)):
        person.device.resend()
    assert person.states() == ["unsent", "sent", "sent"]
    assert len(person.service.bodies) == 2


def test_the_first_error_is_raised(person: Person) -> None:
    person.service.report_answers = [
        (404, problem("unknown-campaign"), {}),
        (202, {}, {}),
        (422, problem("not-expressible"), {}),
    ]
    with pytest.raises(ServiceRefusalError, match="unknown-campaign"):
        person.device.resend()
    [again] = person.device.resend()
    assert again.campaign == FIRST


def resend_refused(person: Person) -> None:
    with pytest.raises(ServiceRefusalError):
        person.device.resend()


def test_what_may_have_arrived_is_not_called_refused(person: Person) -> None:
    """The answer was lost, and the campaign sealed before the report was sent again."""
    person.transport.lost = ["POST"]
    with pytest.raises(UnreachableError):
        person.device.resend()
    assert person.states() == ["unsent", "sent", "sent"]
    person.service.report_answers = [SEALED]
    resend_refused(person)
    assert person.states() == ["uncertain", "sent", "sent"]
    assert len(person.service.bodies) == 3
    assert person.device.resend() == ()
    assert person.device.report(FIRST, None, None).state == "uncertain"
    person.device.forget()
    assert person.states() == ["uncertain", "sent", "sent"]


def test_an_answer_that_is_not_final_is_an_answer(tmp_path: Path) -> None:
    service = StandIn()
    device = BlenderClient("https://a.example", tmp_path, transport=InProcess(service))
    service.report_answers = [(404, problem("unknown-campaign"), {}), SEALED]
    for _ in range(2):
        with pytest.raises(ServiceRefusalError):
            device.report(FIRST, None, None)
    assert [row.state for row in device.ledger().reports] == ["refused"]


def test_a_device_that_died_while_sending_may_have_sent(tmp_path: Path) -> None:
    class DiedError(Exception):
        """The process was killed."""

    def die(point: str) -> None:
        if point == "after-send":
            raise DiedError

    service = StandIn()
    transport = InProcess(service)
    dying = BlenderClient("https://a.example", tmp_path, transport=transport, checkpoint=die)
    with pytest.raises(DiedError):
        dying.report(FIRST, None, None)
    service.report_answers = [SEALED]
    device = BlenderClient("https://a.example", tmp_path, transport=transport)
    with pytest.raises(ServiceRefusalError):
        device.report(FIRST, None, None)
    assert [row.state for row in device.ledger().reports] == ["uncertain"]


def test_a_late_refusal_does_not_undo_an_acknowledgement(tmp_path: Path) -> None:
    """Another process sent the same bytes in the meantime, and got its answer first."""
    service = StandIn()
    transport = InProcess(service)
    device = BlenderClient("https://a.example", tmp_path, transport=transport)

    def other_process(method: str, _path: str) -> None:
        if method == "POST":
            transport.on_send = lambda _method, _path: None
            device.resend()
            service.report_answers = [SEALED]

    transport.on_send = other_process
    with pytest.raises(ServiceRefusalError):
        device.report(FIRST, None, None)
    assert [row.state for row in device.ledger().reports] == ["sent"]


@pytest.mark.parametrize(
    ("first", "state"), [((502, {}, {}), "uncertain"), ((429, {}, {}), "refused")]
)
def test_one_call_that_tries_twice_counts_both(
    service: StandIn,
    make_device: MakeDevice,
    first: tuple[int, dict[str, str], dict[str, str]],
    state: str,
) -> None:
    """A front end may say 502 of what arrived; 429 is an answer."""
    service.report_answers = [first, SEALED]
    device = make_device()
    with pytest.raises(ServiceRefusalError):
        device.report(FIRST, None, None)
    assert [row.state for row in device.ledger().reports] == [state]
