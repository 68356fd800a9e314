"""What is installed has what the commands read."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from blender_dp.evaluation.reproduction.published import published_file

ROOT = Path(__file__).parents[2]


MOST_BYTES = 4_000_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as ``make dist`` does, the dashboard's files being there."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_the_published_statements_and_the_page(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    reproduction = "blender_dp/evaluation/reproduction"
    assert f"{reproduction}/{published_file().name}" in names
    for asset in ("reproduction.html", "reproduction.css"):
        assert f"{reproduction}/figures/drawing/assets/{asset}" in names
    assert "blender_dp/pages/assets/style/page.css" in names


@pytest.mark.built
def test_the_wheel_carries_the_dashboard_and_stays_small(wheel: Path) -> None:
    files = {one.filename: one.file_size for one in ZipFile(wheel).infolist()}
    folder = "blender_dp/service/dashboard/"
    assert f"{folder}index.html" in files, "the dashboard is not built: make dashboard"
    kinds = {Path(name).suffix for name in files if name.startswith(f"{folder}assets/")}
    assert kinds == {".js", ".css"}
    assert wheel.stat().st_size < MOST_BYTES
    assert not [name for name in files if "node_modules" in name or name.endswith(".tsx")]


@pytest.mark.built
def test_the_installed_service_shows_the_dashboard(wheel: Path, tmp_path: Path) -> None:
    """Unpacked where nothing else of ours is, it answers with the page and what the page needs."""
    ZipFile(wheel).extractall(tmp_path / "installed")
    seen = subprocess.run(
        [sys.executable, "-c", _LOOK, str(tmp_path / "data")],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    where, *answers = seen.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path / "installed")
    assert answers == ["200 text/html", "200 text/javascript", "200 text/css"]


_LOOK = """
import asyncio, os, re, sys
from datetime import UTC, datetime
from pathlib import Path
import httpx
import blender_dp.service
from blender_dp.service.app import create_app
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.dependencies import Dependencies

async def look(data):
    data.mkdir()
    store = await open_store(str(data / "service.sqlite"))
    here = Path(blender_dp.service.__file__).parent
    print(here)
    made = Dependencies(store=store, keys=KeyVault(data / "keys"), now=lambda: datetime.now(UTC),
                        random_bytes=os.urandom, dashboard=here / "dashboard")
    transport = httpx.ASGITransport(create_app(made, has_jobs=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
        page = await http.get("/")
        found = [page]
        for kind in ("js", "css"):
            name = re.search(r'"\\./(assets/[^"]+\\.' + kind + ')"', page.text)[1]
            found.append(await http.get("/" + name))
        for one in found:
            print(one.status_code, one.headers["content-type"].partition(";")[0])
    await store.close()

asyncio.run(look(Path(sys.argv[1])))
"""
