"""``blender-dp relay`` as a process: starts, says its key, serves, stops, and refuses nonsense."""

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cli.outcomes import Command, assert_refused

from blender_dp.wire.reports.packed_items import from_text


def test_a_relay_starts_says_its_key_and_stops(tmp_path: Path) -> None:
    keys = []
    for _ in range(2):  # the second start finds the key of the first
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "blender_dp.cli", "relay", "--port", "0"),
                *("--collector", "http://127.0.0.1:9", "--data", str(tmp_path / "relay")),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        line = json.loads(process.stderr.readline())
        assert line["event"] == "listening"
        health = httpx.get(f"{line['address']}/health", timeout=60)
        assert health.status_code == 200
        # Nobody listens there: known as soon as the relay asked for the first time.
        assert set(health.json()["reasons"]) <= {"collector-unreachable"}
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0
        assert '"event":"stopped"' in errors
        said = output.strip().removeprefix("public key of this relay: ")
        assert from_text(said, 32) is not None
        keys.append(said)
    assert keys[0] == keys[1]
    mode = (tmp_path / "relay" / "relay.key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--collector", "collect.example"),
        ("--port", "70000"),
        ("--collector-key", "abc"),
        ("--poll-seconds", "0"),
        ("--poll-seconds", "nan"),
        ("--database", "mysql://x"),
    ],
)
def test_nonsense_is_refused(command: Command, tmp_path: Path, option: str, value: str) -> None:
    given = {"--collector": "https://c.example", "--data": str(tmp_path), option: value}
    outcome = command("relay", *(f"{name}={one}" for name, one in given.items()))
    assert_refused(outcome, option)


def test_a_damaged_key_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "relay.key").write_bytes(b"short")
    outcome = command("relay", "--collector", "https://c.example", "--data", tmp_path)
    assert_refused(outcome, "relay.key", "must hold 32 bytes exactly")
