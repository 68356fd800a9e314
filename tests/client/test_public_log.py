"""A list is reported against only if the public log has it, and the log only ever grew."""

import json
from pathlib import Path
from typing import Any

import pytest

from blender_dp.client import public_log
from blender_dp.client.public_log import NotLoggedError, require_logged
from blender_dp.core.errors import BlenderError

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "test_vectors" / "public_log.json").read_text(encoding="utf-8"))
KEY = VECTORS["public_key"]
CASES = {case["name"]: case for case in VECTORS["cases"]}


def read(case: dict[str, Any]) -> int:
    head = require_logged(
        case["listed"], KEY, case["remembered"], lambda start: case["pieces"][str(start)]
    )
    return int(head["index"])


@pytest.mark.parametrize("name", CASES)
def test_vectors_are_taken_or_refused(name: str) -> None:
    case = CASES[name]
    if case["remembers"] is None:
        with pytest.raises(BlenderError):
            read(case)
    else:
        assert read(case) == case["remembers"]


def test_there_are_good_and_bad_logs() -> None:
    good = [case for case in CASES.values() if case["remembers"] is not None]
    assert (len(good), len(CASES) - len(good)) == (6, 18)


def test_pieces_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    good = CASES["read from its beginning"]
    monkeypatch.setattr(public_log, "MOST_ENTRIES", 1)
    with pytest.raises(BlenderError, match="at most 1 entries"):
        read(good)


def test_a_log_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_log, "MOST_PIECES", 1)
    with pytest.raises(NotLoggedError, match="at most 1 pieces"):
        read(CASES["read from its beginning"])
