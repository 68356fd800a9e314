"""Reports that are sent again: each by itself, and none is called refused that may have arrived."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from client.stand_in import Clock, InProcess, StandIn, problem

from blender_dp.client import BlenderClient, ClientPolicy, ServiceRefusalError, UnreachableError
from blender_dp.core.errors import BlenderError, InputError

FIRST, SECOND, THIRD = (UUID(int=number) for number in (1, 2, 3))
POLICY = ClientPolicy(most_epsilon=64.0)


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
