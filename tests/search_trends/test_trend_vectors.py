"""Changes are as ``test_vectors/trends.json`` says; the dashboard reads the same file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from blender_dp.search_trends.changes import changes
from blender_dp.search_trends.multiple_testing import critical_value, upper_tail
from blender_dp.wire.published.release import read_release

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "test_vectors" / "trends.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(len(VECTORS["compared"])))
def test_two_releases_are_compared_as_stated(number: int, tmp_path: Path) -> None:
    vector = VECTORS["compared"][number]
    releases = []
    for name in ("now", "then"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(vector[name]), encoding="utf-8")
        releases.append(read_release(path))
    found = changes(*releases, false_discovery_rate=VECTORS["false_discovery_rate"])
    assert [asdict(one) for one in found] == [_close(one) for one in vector["changes"]]


def _close(change: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
        for name, value in change.items()
    }


def test_the_vectors_hold_every_verdict_and_listing() -> None:
    changed = [one for vector in VECTORS["compared"] for one in vector["changes"]]
    assert {one["verdict"] for one in changed} == {"rose", "fell", None}
    assert {one["listing"] for one in changed if one["verdict"]} == {
        "listed in both",
        "new on the list",
        "left the list",
    }
    assert any(one["p_value"] is None for one in changed)


def test_the_normal_distribution_is_as_stated() -> None:
    for one in VECTORS["upper_tails"]:
        assert upper_tail(one["z"]) == pytest.approx(one["tail"], rel=1e-12)
    for one in VECTORS["critical_values"]:
        assert critical_value(one["level"]) == pytest.approx(one["value"], rel=1e-12)
