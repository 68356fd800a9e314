"""Writes suggestions.json: what local search answers, and how it reads texts and URLs.

The texts asked about are in suggestion_texts.json.

Run it when local search changes: ``python test_vectors/make_suggestions.py``.
"""

import hashlib
import json
import tempfile
import unicodedata
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from vector_file import write_vectors

from blender_dp.local_search.folding import fold
from blender_dp.local_search.search import LocalSearch
from blender_dp.local_search.urls import web_address
from blender_dp.wire.published.release import read_release

HERE = Path(__file__).parent
LIMIT = 3
ESTIMATE = ("probability", "std_error")
TEXTS = json.loads((HERE / "suggestion_texts.json").read_text(encoding="utf-8"))


def row(cell: str, query: str | None, p: float, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a row of a release on which both groups agree; ``changed`` replaces some fields."""
    error = 0.0002
    agreed = ("probability", "raw_probability", "client_probability", "opt_in_probability")
    numbers = {
        **dict.fromkeys(agreed, p),
        **dict.fromkeys(("std_error", "client_std_error"), error),
        **{"low": max(0.0, p - 2 * error), "high": min(1.0, p + 2 * error)},
        **{"opt_in_std_error": 2 * error, "opt_in_weight": 0.2},
    }
    return {"cell": cell, "query": query, **numbers, **changed}


def release() -> dict[str, Any]:
    """Return a release in which some rows must not be shown."""
    changed: dict[str, dict[str, Any]] = {
        "rare": {"client_probability": 0.0001},
        "doubted": {"opt_in_probability": 0.5},
        "underrated": {"opt_in_probability": 0.0},  # may be, of a query (flaw F3); not of a record
        # So few opt-in users that a push explains it; the clients alone would show it.
        "pushed": {"client_probability": 0.00095, "opt_in_probability": 0.0005},
        "spoilt": {"std_error": None, "low": None, "high": None, "probability": 0.0},
    }
    queries, records = [], []
    for rank, query in enumerate(TEXTS["queries"]):
        p = round(0.04 / (1 + rank / 4), 6)
        queries.append(row("query", query, p, **changed.get(query, {})))
        urls = (
            []
            if query == "without links"
            else [TEXTS["urls"][rank % len(TEXTS["urls"])], "a.example", "A.example/"]
        )
        doubt = changed[query] if query == "underrated" else {}
        records += [
            row("record", query, p / (2 + place), url=url, **doubt)
            for place, url in enumerate(urls)
        ]
        records.append(row("other_url", query, p / 9, url=None))
    queries.append(row("other", None, 0.5))
    records.append(row("other", None, 0.5, url=None))
    return {
        "format": "blender-dp release",
        "version": 1,
        "private": True,
        "created": "2026-11-15T09:00:00Z",
        "preset": "sharp",
        "promise": {"epsilon": 4.0, "delta": 1e-5},
        "users": {"opt_in": 12_000, "clients": 493_403},
        "confidence": 0.95,
        "unlisted_bound": None,
        "disagreement": {"fake_weight": 4.0},
        "records": _sorted(records),
        "queries": _sorted(queries),
    }


def with_relay(document: dict[str, Any]) -> dict[str, Any]:
    """Return the release of the same clients, half of them behind a relay.

    Local clients alone say nothing of the most probable query and confirm no other row.
    """

    def relayed(one: dict[str, Any]) -> dict[str, Any]:
        together = {f"all_clients_{name}": one[f"client_{name}"] for name in ESTIMATE}
        alone = {"client_probability": 0.0001, "client_std_error": 0.1}
        unsaid = dict.fromkeys(alone)
        return {**one, **together, **(unsaid if one["query"] == TEXTS["queries"][0] else alone)}

    few = (None, *TEXTS["queries"][:3])
    rows = {
        level: [relayed(one) for one in document[level] if one["query"] in few]
        for level in ("records", "queries")
    }
    users = {"opt_in": 12_000, "clients": 0, "relay_clients": 493_403}
    return {**document, "users": users, **rows}


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda one: -one["probability"])


def asked(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is suggested for everything typed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        search = LocalSearch(read_release(path))
    return [
        {"typed": typed, "suggestions": [asdict(one) for one in search.suggest(typed, limit=LIMIT)]}
        for typed in TEXTS["typed"]
    ]


def spelled(url: str) -> dict[str, str | None]:
    """Return a URL in its one spelling, or nulls."""
    found = web_address(url)
    return {
        "url": url,
        "address": found.address if found else None,
        "shown": found.shown if found else None,
    }


def assigned_ranges() -> list[tuple[int, int]]:
    """Return the characters that Unicode knew when this was made, as first and last numbers."""
    known = [n for n in range(0x110000) if unicodedata.category(chr(n)) not in ("Cn", "Cs")]
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(known)) if b != a + 1]
    bounds = [0, *breaks, len(known)]
    return [(known[first], known[last - 1]) for first, last in pairwise(bounds)]


def characters() -> dict[str, Any]:
    """Return the digest of how every character folds, a line each."""
    ranges = [(first, last) for first, last in assigned_ranges() if last < 0xE0000]
    lines = (f"{fold(chr(n))}\n" for first, last in ranges for n in range(first, last + 1))
    return {
        "ranges": [number for pair in ranges for number in pair],
        "folds": hashlib.sha256("".join(lines).encode()).hexdigest(),
    }


def main() -> None:
    """Write the file."""
    document = release()
    relay = with_relay(document)
    vectors = {
        "limit": LIMIT,
        "release": document,
        "asked": asked(document),
        "release_with_relay": relay,
        "asked_with_relay": asked(relay),
        "folds": [
            {"text": text, "folded": fold(text)} for text in (*TEXTS["queries"], *TEXTS["typed"])
        ],
        "addresses": [spelled(url) for url in TEXTS["urls"]],
        "characters": characters(),
    }
    write_vectors("suggestions.json", vectors)


if __name__ == "__main__":
    main()
