"""Whatever dies at whichever point, and however many start at once: one draw a campaign."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from client.conftest import MakeDevice
from client.stand_in import CAMPAIGN, StandIn

SCRIPT = Path(__file__).with_name("killed_device.py")
POINTS = (
    *("after-draw", "before-commit", "after-commit"),
    *("before-send", "after-send", "after-acknowledgement"),
)
DRAWN_BEFORE_THE_COMMIT = ("after-draw", "before-commit")


def start(
    service: StandIn, directory: Path, deadly: str = "never", role: str = "report"
) -> subprocess.Popen[bytes]:
    arguments = [service.url, str(directory), str(CAMPAIGN), deadly, role]
    return subprocess.Popen([sys.executable, str(SCRIPT), *arguments], stdout=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    said, _ = process.communicate(timeout=60)
    return process.returncode, said


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_device_never_shows_two_draws(
    point: str, service: StandIn, tmp_path: Path, make_device: MakeDevice
) -> None:
    status, _ = finish(start(service, tmp_path / "device", point))
    assert status == -signal.SIGKILL
    device = make_device()
    assert len(device.ledger().reports) == (point not in DRAWN_BEFORE_THE_COMMIT)
    assert finish(start(service, tmp_path / "device")) == (0, b"sent")
    [kept] = device.ledger().reports
    assert kept.state == "sent"
    assert set(service.bodies) == {kept.body}
    assert len(service.bodies) == (2 if point == "after-send" else 1)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_relay_client_never_shows_two_draws(
    point: str, service: StandIn, tmp_path: Path, make_device: MakeDevice
) -> None:
    service.publish_for_relay()
    status, _ = finish(start(service, tmp_path / "device", point, "relayed"))
    assert status == -signal.SIGKILL
    device = make_device()
    assert len(device.ledger().relayed) == (point not in DRAWN_BEFORE_THE_COMMIT)
    assert finish(start(service, tmp_path / "device", role="relayed")) == (0, b"sent")
    [kept] = device.ledger().relayed
    assert set(service.relayed) == {kept.body}
    assert len(service.relayed) == (2 if point == "after-send" else 1)
    assert service.bodies == []


def test_devices_that_start_at_once_draw_once(
    service: StandIn, tmp_path: Path, make_device: MakeDevice
) -> None:
    processes = [start(service, tmp_path / "device") for _ in range(4)]
    assert [finish(process) for process in processes] == [(0, b"sent")] * 4
    [kept] = make_device().ledger().reports
    assert set(service.bodies) == {kept.body}
