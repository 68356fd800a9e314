"""Writes trends.json: two releases and what rose and fell between them.

Run it when the rules of trends change: ``python test_vectors/make_trends.py``.
"""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from make_suggestions import HERE, row

from blender_dp.search_trends.changes import changes
from blender_dp.search_trends.multiple_testing import critical_value, upper_tail
from blender_dp.wire.published.release import read_release

RATE = 0.05
SHARES = {
    "steady": (0.05, 0.05),
    "rose": (0.02, 0.0214),
    "fell": (0.03, 0.0262),
    "perhaps": (0.01, 0.01055),
    "just below": (0.012, 0.01268),
    "spoilt": (0.008, 0.02),
    "new and large": (None, 0.015),
    "new and small": (None, 0.0011),
    "left and large": (0.007, None),
    "left and small": (0.0009, None),
}
SPOILT = {"std_error": None, "low": None, "high": None}


def release(when: int, bound: float | None) -> dict[str, Any]:
    """Return the release of then (0) or now (1)."""
    shares = {name: both[when] for name, both in SHARES.items() if both[when] is not None}
    rest = row("other", None, 1 - sum(filter(None, shares.values())))
    queries = [
        row("query", name, p or 0.0, **(SPOILT if name == "spoilt" else {}))
        for name, p in shares.items()
    ]
    records = [
        row("record", name, (p or 0.0) * part, url=f"{place}.example")
        for name, p in shares.items()
        for place, part in (("a", 0.7), ("b", 0.3))
    ]
    return {
        "format": "blender-dp release",
        "version": 1,
        "private": True,
        "created": f"2026-1{when}-15T12:00:00Z",
        "preset": "sharp",
        "promise": {"epsilon": 4.0, "delta": 1e-5},
        "users": {"opt_in": 20_000, "clients": 400_000},
        "confidence": 0.95,
        "unlisted_bound": bound,
        "queries": _most_probable_first([rest, *queries]),
        "records": _most_probable_first([{**rest, "url": None}, *records]),
    }


def _most_probable_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda one: -one["probability"])


def compared(now: dict[str, Any], then: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the changes as the command has them."""
    with tempfile.TemporaryDirectory() as folder:
        read = []
        for name, document in (("now", now), ("then", then)):
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            read.append(read_release(path))
    return [asdict(one) for one in changes(read[0], read[1], false_discovery_rate=RATE)]


def main() -> None:
    """Write the file."""
    now, then = release(1, bound=0.0008), release(0, bound=0.001)
    unbounded = release(0, bound=None)
    tails = [-8.0, -1.5, 0.0, 1e-9, 0.3, 1.0, 1.96, 2.999999, 3.0, 3.000001, 5.0, 8.0, 20.0, 37.0]
    vectors = {
        "false_discovery_rate": RATE,
        "compared": [
            {"now": now, "then": then, "changes": compared(now, then)},
            {"now": now, "then": unbounded, "changes": compared(now, unbounded)},
            {"now": now, "then": now, "changes": compared(now, now)},
        ],
        "upper_tails": [{"z": z, "tail": upper_tail(z)} for z in tails],
        "critical_values": [
            {"level": level, "value": critical_value(level)}
            for level in (0.4, 0.05, 0.025, 0.005, 1e-6)
        ],
    }
    text = json.dumps(vectors, indent=1, ensure_ascii=False)
    (HERE / "trends.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
