"""A service without the built dashboard works, and says how to get it."""

from pathlib import Path

import httpx
import pytest
from dashboard.live_service import live_service


@pytest.mark.parametrize("has_folder", [False, True])
def test_the_address_says_in_one_sentence_which_command_to_run(
    tmp_path: Path, has_folder: bool
) -> None:
    folder = tmp_path / "dashboard"
    if has_folder:
        folder.mkdir()
    with live_service(tmp_path, None, folder if has_folder else None) as service:
        answer = httpx.get(f"{service.url}/")
        health = httpx.get(f"{service.url}/health")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "`make dashboard`" in answer.text
    assert answer.text.strip().count(".") == 1
    assert health.json()["status"] == "ok"
