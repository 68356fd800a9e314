"""Workers that die are started again, and nothing is left of them when the service ends."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from service.running import a_campaign

from postgres_server import PostgresServer

Script = Callable[..., subprocess.Popen[str]]
Found = TypeVar("Found")
_PATIENCE = 60.0


def eventually(look: Callable[[], Found]) -> Found:
    """Return what a look finds, as soon as it finds something."""
    until = time.monotonic() + _PATIENCE
    while not (found := look()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.1)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervised:
    """A service with two workers."""

    process: subprocess.Popen[str]
    said: Path
    out: Path

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Return what was written down of one kind."""
        found = [
            json.loads(line)
            for line in self.said.read_text(encoding="utf-8").splitlines()
            if line.startswith("{") and line.endswith("}")
        ]
        return [line for line in found if line["event"] == event]

    @property
    def url(self) -> str:
        [line] = eventually(partial(self.lines, "listening"))
        return str(line["address"])

    @property
    def token(self) -> str:
        return self.out.read_text(encoding="utf-8").split()[-1]

    def started(self, number: int) -> list[int]:
        """Return the processes that a worker was, oldest first."""
        return [
            line["process"] for line in self.lines("worker-started") if line["worker"] == number
        ]

    def get(self, path: str) -> Any:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.get(self.url + path, headers=headers, timeout=_PATIENCE).json()

    def shows(self, figure: str) -> bool:
        return figure in httpx.get(self.url + "/metrics", timeout=_PATIENCE).text

    def post(self, path: str, body: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.post(self.url + path, json=body, headers=headers, timeout=_PATIENCE)


@contextmanager
def supervised(script: Script, folder: Path, server: PostgresServer) -> Iterator[Supervised]:
    """Start a service with two workers on a database of its own."""
    address = asyncio.run(_fresh_database(server))
    said, out = folder / "err", folder / "out"
    options = ("--data", folder / "data", "--port", "0", "--database", address, "--workers", "2")
    with said.open("w") as stderr, out.open("w") as stdout:
        process = script("serve", *options, stdout=stdout, stderr=stderr)
    service = Supervised(process=process, said=said, out=out)
    try:
        yield service
    finally:
        process.kill()
        process.wait()
        for number in (0, 1):
            for one in service.started(number)[-1:]:
                _kill(one)


async def _fresh_database(server: PostgresServer) -> str:
    return await server.fresh_database()


def _kill(worker: int) -> None:
    """Leave no worker behind, should the test have failed."""
    if is_worker(worker):
        os.kill(worker, signal.SIGKILL)


def is_worker(process: int) -> bool:
    """Tell whether a worker of this number lives."""
    command = Path(f"/proc/{process}/cmdline")
    return command.exists() and b"spawn_main" in command.read_bytes()


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def campaign_with_deadline(service: Supervised) -> str:
    """Make a campaign whose opt-in side is sealed soon; a deadline that has passed is refused."""
    for seconds in (4, 10, 30):
        soon = (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        asked = a_campaign(rules={"opt_in_until": soon}, parameters={"epsilon": 4, "delta": 1e-5})
        answer = service.post("/v1/campaigns", asked)
        if answer.is_success:
            return str(answer.json()["id"])
    raise AssertionError(answer.text)


def test_a_dead_worker_is_replaced_and_a_hanging_one_keeps_no_job_and_no_stop(
    script: Script, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    with supervised(script, tmp_path, postgres_server) as service:
        port = int(service.url.rpartition(":")[2])
        [first] = service.started(1)
        for _ in range(6):
            assert service.get("/health")["status"] == "ok"
        os.kill(first, signal.SIGKILL)
        eventually(lambda: len(service.started(1)) == 2)
        assert service.lines("worker-died")[0]["status"] == -signal.SIGKILL
        assert service.get("/health")["status"] == "ok"
        # Whichever worker is asked answers for all, the dead one too.
        health = 'blender_dp_requests_total{method="GET",route="/health",status="200"} 7.0\n'
        for figure in (health, *_FIGURES):
            eventually(partial(service.shows, figure))
        # The other one hangs: deadlines and jobs are done without it.
        os.kill(service.started(0)[-1], signal.SIGSTOP)
        path = f"/v1/campaigns/{campaign_with_deadline(service)}"
        moved = service.post(f"{path}/moves", {"move": "open-opt-in", "from": "draft"})
        assert moved.is_success, moved.text
        eventually(lambda: _are_ended(service.get(f"{path}/progress")["jobs"]))
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(_PATIENCE) == 1
        assert 0 in [line.get("worker") for line in service.lines("ended-by-force")]
        eventually(lambda: is_free(port))


_FIGURES = (
    "blender_dp_workers_alive 2.0\n",
    "blender_dp_workers_expected 2.0\n",
    "blender_dp_worker_restarts_total 1.0\n",
)


def _are_ended(jobs: list[dict[str, Any]]) -> bool:
    return bool(jobs) and all(job["state"] in ("done", "failed") for job in jobs)


def test_no_worker_outlives_its_supervisor(
    script: Script, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    with supervised(script, tmp_path, postgres_server) as service:
        port = int(service.url.rpartition(":")[2])
        assert not is_free(port)
        service.process.kill()
        service.process.wait()
        eventually(lambda: is_free(port))


@pytest.mark.parametrize(
    ("arguments", "status", "deaths", "last"),
    [
        (("3", "listened"), 1, 6, "gave-up"),
        (("2",), 2, 1, "worker-died"),  # it said what is wrong, and the next would say the same
    ],
)
def test_when_no_worker_can_live_the_exit_status_says_so(
    arguments: tuple[str, ...], status: int, deaths: int, last: str
) -> None:
    done = run_script("failing_workers.py", *arguments)
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert (done.returncode, events[-1]) == (status, last)
    assert events.count("worker-died") >= deaths
    assert events.count("listening") == ("listened" in arguments)


def test_a_worker_that_cannot_be_started_is_tried_again_and_the_others_are_tended() -> None:
    done = run_script("unstartable_worker.py", "once")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    of_first = [line for line in lines if line.get("worker") == 0]
    assert [line["event"] for line in of_first] == [
        *("worker-started", "worker-died", "worker-not-started", "worker-started")
    ]
    assert of_first[2]["error"] == "EAGAIN"
    assert done.returncode == 0
    for line in lines:
        if line["event"] == "worker-started":
            assert not is_worker(line["process"])


def test_a_service_that_gets_no_process_at_all_gives_up() -> None:
    done = run_script("unstartable_worker.py", "always")
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert (done.returncode, events[-1]) == (1, "gave-up")
    assert events.count("worker-not-started") == len(events) - 1 >= 4


def run_script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a supervisor of this directory to its end."""
    return subprocess.run(
        [sys.executable, Path(__file__).with_name(name), *arguments],
        stderr=subprocess.PIPE,
        timeout=5 * _PATIENCE,
        check=False,
        text=True,
    )


@pytest.mark.parametrize(("how", "status"), [("obeys", 0), ("hangs", 1)])
def test_the_exit_status_says_that_a_worker_had_to_be_killed(how: str, status: int) -> None:
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("failing_workers.py"), how],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert any('"listening"' in line for line in process.stderr)
            process.terminate()
            _, err = process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
    assert process.returncode == status
    assert ('"event":"ended-by-force"' in err) == (how == "hangs")
