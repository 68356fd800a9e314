"""A Spark cluster of separate processes on loopback: a master and workers of one core each."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from spark_sessions import START_QUICKLY

_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_PATIENCE = 240.0
"""Seconds, on a machine that does much else; nothing is asserted about time."""


@dataclass(kw_only=True)
class Cluster:
    """What was started, and where."""

    url: str
    status_port: int
    directory: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *words: str) -> None:
        """Start a daemon in a process group of its own, its local files in a place of its own."""
        places = {"SPARK_LOCAL_DIRS": str(self.local(name)), "SPARK_LOCAL_IP": "127.0.0.1"}
        self.processes[name] = subprocess.Popen(
            [str(_CLASS), *words, "--host", "127.0.0.1"],
            env={**os.environ, **places, "SPARK_DAEMON_JAVA_OPTS": START_QUICKLY},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def local(self, name: str) -> Path:
        """Return where a worker's executor keeps what it shuffles."""
        return self.directory / f"local-{name}"

    def workers(self) -> int:
        """Return how many workers the master knows to live."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.status_port}/json/") as answer:
                return int(json.load(answer)["aliveworkers"])
        except (OSError, json.JSONDecodeError):  # while it starts, its page answers with HTML
            return 0

    def kill(self, name: str) -> None:
        """Kill a daemon and what it started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait()


@contextmanager
def standalone_cluster(directory: Path, workers: int = 2, memory: str = "1g") -> Iterator[Cluster]:
    """Start a master and workers; stop all of them afterwards."""
    port, status_port = _free_port(), _free_port()
    cluster = Cluster(url=f"spark://127.0.0.1:{port}", status_port=status_port, directory=directory)
    try:
        cluster.start(
            *("master", "org.apache.spark.deploy.master.Master"),
            *("--port", str(port), "--webui-port", str(status_port)),
        )
        wait_until(lambda: _is_open(port), cluster.processes["master"])
        for number in range(workers):
            cluster.start(
                *(f"worker-{number}", "org.apache.spark.deploy.worker.Worker"),
                *("--cores", "1", "--memory", memory, "--webui-port", "0"),
                *("--work-dir", str(directory / f"work-{number}"), cluster.url),
            )
        wait_until(lambda: cluster.workers() == workers, cluster.processes["master"])
        yield cluster
    finally:
        for name in cluster.processes:
            cluster.kill(name)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for a condition while a process lives."""
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert process.poll() is None, "the process ended"
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _is_open(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0
