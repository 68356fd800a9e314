"""A running service whose disk is full says so, and says when there is room again."""

import json
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx

_PATIENCE = 60.0


def health(url: str) -> tuple[int, list[str]]:
    answer = httpx.get(f"{url}/health", timeout=_PATIENCE)
    return answer.status_code, answer.json()["reasons"]


def await_health(url: str, wanted: tuple[int, list[str]]) -> None:
    until = time.monotonic() + _PATIENCE
    while (found := health(url)) != wanted:
        assert time.monotonic() < until, found
        time.sleep(0.2)


def test_a_full_disk_is_said_until_there_is_room(
    script: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = script("serve", "--data", tmp_path / "data", "--port", "0")
    assert process.stderr is not None
    try:
        lines = map(json.loads, process.stderr)
        url = next(line["address"] for line in lines if line["event"] == "listening")
        await_health(url, (200, []))
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        # No file may grow any more, as on a disk that is full; what is there can be read.
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, most))
        await_health(url, (503, ["store-refuses-writes"]))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
        await_health(url, (200, []))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=_PATIENCE)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
