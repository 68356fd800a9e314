"""Local search answers as ``test_vectors/suggestions.json`` says; other languages read it too."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from blender_dp.local_search.folding import fold
from blender_dp.local_search.search import LocalSearch
from blender_dp.local_search.urls import web_address
from blender_dp.wire.published.release import read_release

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "test_vectors" / "suggestions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("clients", ["", "_with_relay"])
def test_the_same_is_suggested(tmp_path: Path, clients: str) -> None:
    path = tmp_path / "release.json"
    path.write_text(json.dumps(VECTORS[f"release{clients}"]), encoding="utf-8")
    search = LocalSearch(read_release(path))
    for vector in VECTORS[f"asked{clients}"]:
        found = [asdict(one) for one in search.suggest(vector["typed"], limit=VECTORS["limit"])]
        assert json.loads(json.dumps(found)) == vector["suggestions"]


def test_there_are_suggestions_of_every_kind() -> None:
    found: list[dict[str, Any]] = [s for asked in VECTORS["asked"] for s in asked["suggestions"]]
    assert {one["is_correction"] for one in found} == {True, False}
    assert {bool(one["links"]) for one in found} == {True, False}
    assert any(not asked["suggestions"] for asked in VECTORS["asked"])
    shown = {one["query"] for one in found}
    assert not shown & {"rare", "doubted"}
    assert [one["links"] for one in found if one["query"] == "underrated"] == [[]]


def test_what_all_clients_confirm_is_suggested_with_a_relay() -> None:
    found = [s for asked in VECTORS["asked_with_relay"] for s in asked["suggestions"]]
    queries = {row["query"] for row in VECTORS["release_with_relay"]["queries"]}
    assert {one["query"] for one in found} == queries - {None}


def test_texts_fold_alike() -> None:
    for vector in VECTORS["folds"]:
        assert fold(vector["text"]) == vector["folded"]


def test_every_character_folds_alike() -> None:
    numbers = VECTORS["characters"]["ranges"]
    ranges = zip(numbers[::2], numbers[1::2], strict=True)
    lines = (f"{fold(chr(n))}\n" for first, last in ranges for n in range(first, last + 1))
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == VECTORS["characters"]["folds"]


def test_urls_are_spelled_alike() -> None:
    for vector in VECTORS["addresses"]:
        found = web_address(vector["url"])
        spelled = (found.address, found.shown) if found else (None, None)
        assert spelled == (vector["address"], vector["shown"])
