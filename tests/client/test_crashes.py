"""Whatever dies at whichever point, and however many start at once: one draw a campaign."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client.conftest import MakeDevice
from client.stand_in import CAMPAIGN, StandIn

Lives = Callable[..., list[tuple[int, str]]]
SCRIPT = Path(__file__).with_name("killed_device.py")
POINTS = (
    *("after-draw", "before-commit", "after-commit"),
    *("before-send", "after-send", "after-acknowledgement"),
)
NEVER = "never"
DRAWN_BEFORE_THE_COMMIT = ("after-draw", "before-commit")


@pytest.fixture(scope="module")
def nursery() -> Iterator[subprocess.Popen[str]]:
    """Start the process that forks the devices of this file."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


@pytest.fixture
def lives(nursery: subprocess.Popen[str], service: StandIn, tmp_path: Path) -> Lives:
    """Return a function that lets devices on one ledger live at once, each in its process."""

    def live(*deadly: str, role: str = "report") -> list[tuple[int, str]]:
        place = str(tmp_path / "device")
        asked = [(service.url, place, str(CAMPAIGN), point, role) for point in deadly]
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(json.dumps(asked) + "\n")
        nursery.stdin.flush()
        return [(status, said) for status, said in json.loads(nursery.stdout.readline())]

    return live


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_device_never_shows_two_draws(
    point: str, lives: Lives, service: StandIn, make_device: MakeDevice
) -> None:
    [(status, _)] = lives(point)
    assert status == -signal.SIGKILL
    device = make_device()
    assert len(device.ledger().reports) == (point not in DRAWN_BEFORE_THE_COMMIT)
    assert lives(NEVER) == [(0, "sent")]
    [kept] = device.ledger().reports
    assert kept.state == "sent"
    assert set(service.bodies) == {kept.body}
    assert len(service.bodies) == (2 if point == "after-send" else 1)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_relay_client_never_shows_two_draws(
    point: str, lives: Lives, service: StandIn, make_device: MakeDevice
) -> None:
    service.publish_for_relay()
    [(status, _)] = lives(point, role="relayed")
    assert status == -signal.SIGKILL
    device = make_device()
    assert len(device.ledger().relayed) == (point not in DRAWN_BEFORE_THE_COMMIT)
    assert lives(NEVER, role="relayed") == [(0, "sent")]
    [kept] = device.ledger().relayed
    assert set(service.relayed) == {kept.body}
    assert len(service.relayed) == (2 if point == "after-send" else 1)
    assert service.bodies == []


def test_devices_that_start_at_once_draw_once(
    lives: Lives, service: StandIn, make_device: MakeDevice
) -> None:
    assert lives(*[NEVER] * 4) == [(0, "sent")] * 4
    [kept] = make_device().ledger().reports
    assert set(service.bodies) == {kept.body}
