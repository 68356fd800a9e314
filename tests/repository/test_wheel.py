"""What is installed has what the commands read."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from blender_dp.evaluation.published import published_folder

ROOT = Path(__file__).parents[2]


def test_the_wheel_carries_the_published_statements_and_the_page(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    evaluation = "blender_dp/evaluation"
    for path in published_folder().glob("*.json"):
        assert f"{evaluation}/published/{path.name}" in names
    for asset in ("reproduction.html", "reproduction.css"):
        assert f"{evaluation}/figures/assets/{asset}" in names
