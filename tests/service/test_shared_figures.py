"""Figures of several workers: whichever is asked answers for all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_WORKER = """
from blender_dp.service.operation.metrics import Metrics
metrics = Metrics()
{look}
print(metrics.text().decode())
"""
_UP, _DOWN, _NO_LOOK = "metrics.store_is_up(is_up=True)", "metrics.store_is_up(is_up=False)", ""


def figures(folder: Path, look: str) -> str:
    """Return what a process of its own answers after this look at the database."""
    return subprocess.run(
        [sys.executable, "-c", _WORKER.format(look=look)],
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout


@pytest.mark.parametrize(
    ("looks", "shown"),
    [((_NO_LOOK, _UP), 1.0), ((_DOWN, _UP), 1.0), ((_UP, _DOWN, _NO_LOOK), 0.0)],
)
def test_the_newest_look_at_the_database_counts(
    tmp_path: Path, looks: tuple[str, ...], shown: float
) -> None:
    for look in looks:
        found = figures(tmp_path, look)
    assert f"blender_dp_store_up {shown}\n" in found
