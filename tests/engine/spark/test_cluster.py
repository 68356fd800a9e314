"""A run on a real cluster, of which a worker dies in the middle, is the run of one machine."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from logs import popular_rows, write_parquet
from spark_cluster import Cluster, standalone_cluster, wait_until
from spark_sessions import START_QUICKLY

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROMISE = ["--preset", "paper", "--epsilon", "6", "--delta", "1e-3", "--head-list-size", "8"]


class StartingPage(BaseHTTPRequestHandler):
    """The master's status page before it can answer in JSON."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html>")

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def test_a_master_whose_page_is_starting_has_no_workers_yet(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), StartingPage) as page:
        answering = threading.Thread(target=page.handle_request)
        answering.start()
        cluster = Cluster(url="", status_port=page.server_port, directory=tmp_path)
        assert cluster.workers() == 0
        answering.join()


def start_run(log: Path, output: Path, *engine: str) -> subprocess.Popen[bytes]:
    settings = {
        "spark.executor.extraJavaOptions": START_QUICKLY,
        "spark.sql.shuffle.partitions": "4",
        "spark.cores.max": "2",
    }
    words = " ".join(f'--conf "{name}={value}"' for name, value in settings.items())
    command = [sys.executable, "-m", "blender_dp.cli", "run", str(log), "-o", str(output)]
    return subprocess.Popen(
        [*command, *PROMISE, "--opt-in", "0.5", "--seed", "8", "--yes", *engine],
        env={
            **os.environ,
            "PYSPARK_SUBMIT_ARGS": f"{words} pyspark-shell",
            "SPARK_JAVA_OPTS": START_QUICKLY,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    _, complaints = process.communicate(timeout=900)
    assert process.returncode == 0, complaints.decode()


def released(output: Path) -> dict[str, object]:
    """Return everything that a run released, but for when."""
    release = json.loads((output / "release.json").read_text(encoding="utf-8"))
    release.pop("created")
    return {
        "release": release,
        "list": (output / "head_list.json").read_bytes(),
        "records": (output / "records.csv").read_bytes(),
    }


def has_shuffled(cluster: Cluster, worker: str) -> bool:
    return next(cluster.local(worker).rglob("shuffle_*.data"), None) is not None


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    log = write_parquet(tmp_path / "log.parquet", popular_rows(users=2_000))
    finish(start_run(log, tmp_path / "duckdb", "--engine", "duckdb"))
    with standalone_cluster(tmp_path) as cluster:
        on_spark = ("--engine", "spark", "--master", cluster.url)
        process = start_run(log, tmp_path / "spark", *on_spark)
        try:
            # Both executors have taken part, and what one of them holds is needed later.
            wait_until(lambda: has_shuffled(cluster, "worker-0"), process)
            cluster.kill("worker-0")
            finish(process)
        finally:
            process.kill()
            process.wait()
        assert cluster.workers() <= 2
    assert released(tmp_path / "spark") == released(tmp_path / "duckdb")
    made = json.loads((tmp_path / "spark" / "run.json").read_text(encoding="utf-8"))
    assert made["engine"] == "spark"
