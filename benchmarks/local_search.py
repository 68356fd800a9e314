"""Speed of local search over 10,000 queries: index, lookups, and a plain scan for comparison."""

import random
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from blender_dp.core.estimation.release import Release, ReleasedQuery, ReleasedRecord
from blender_dp.engine.synthetic.names import query_words
from blender_dp.local_search.folding import fold
from blender_dp.local_search.index import PrefixIndex
from blender_dp.local_search.search import LocalSearch

QUERIES, LOOKUPS, SCANS = 10_000, 5_000, 20


def table() -> str:
    """Return the figures as Markdown."""
    queries = query_words(np.arange(QUERIES)).to_pylist()
    search = LocalSearch(_release(queries))
    rng = random.Random(1)  # noqa: S311 - which prefixes are looked up is no secret
    prefixes = [rng.choice(queries)[: rng.randint(1, 12)] for _ in range(LOOKUPS)]
    slips = [word for word in (_with_slip(rng, rng.choice(queries)) for _ in range(500)) if word]
    slips = [word for word in slips if all(s.is_correction for s in search.suggest(word))]
    folded = [fold(query) for query in queries]
    build = min(_seconds(lambda: PrefixIndex(queries)) for _ in range(5))
    found, scanned, mended = (
        _each(lookup, words)
        for lookup, words in (
            (search.suggest, prefixes),
            (lambda word: _scan(folded, fold(word)), prefixes[:SCANS]),
            (search.suggest, slips),
        )
    )
    return "\n".join(
        [
            f"## Local search over {QUERIES:,} queries",
            "",
            "Goal: built in milliseconds, lookups under 50 µs at the median. A scan looks at every",
            "word of every query. Prefixes of 1 to 12 letters, drawn at random; CPU time.",
            "",
            "| what | median | 99 % below |",
            "|---|---|---|",
            f"| index built | {build * 1e3:.0f} ms | |",
            f"| suggestions for a prefix | {_micro(found, 0.5)} | {_micro(found, 0.99)} |",
            f"| the same by a scan | {_micro(scanned, 0.5)} | |",
            f"| suggestions for a slip | {_micro(mended, 0.5)} | {_micro(mended, 0.99)} |",
        ]
    )


def _release(queries: Sequence[str]) -> Release:
    shares = [0.1 / (rank + 1) for rank in range(len(queries))]
    numbers = [_numbers(share) for share in shares]
    rows = tuple(
        ReleasedQuery(cell="query", query=query, **row)
        for query, row in zip(queries, numbers, strict=True)
    )
    records = tuple(
        ReleasedRecord(cell="record", query=query, url=f"www.site{rank}.example/a", **row)
        for rank, (query, row) in enumerate(zip(queries, numbers, strict=True))
    )
    return Release(
        private=False,
        created="",
        preset="paper",
        epsilon=4.0,
        delta=1e-5,
        opt_in_users=10**8,
        client_users=10**9,
        confidence=0.95,
        queries=rows,
        records=records,
    )


def _numbers(share: float) -> dict[str, float]:
    values = ("probability", "raw_probability", "low", "high", "client_probability")
    errors = ("std_error", "client_std_error", "opt_in_std_error")
    numbers = dict.fromkeys((*values, "opt_in_probability"), share)
    return numbers | dict.fromkeys(errors, 1e-7) | {"opt_in_weight": 0.5}


def _with_slip(rng: random.Random, query: str) -> str:
    word = query[: rng.randint(5, 12)]
    at = rng.randrange(1, len(word))
    return word[:at] + rng.choice("qxzj") + word[at + 1 :]


def _scan(folded: Sequence[str], word: str) -> list[str]:
    return [text for text in folded if text.startswith(word) or f" {word}" in text][:8]


def _each(lookup: Callable[[str], object], words: Sequence[str]) -> list[float]:
    return [_seconds(lambda word=word: lookup(word)) for word in words]  # type: ignore[misc]


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _micro(times: Sequence[float], share: float) -> str:
    value = median(times) if share == 0.5 else sorted(times)[int(share * len(times))]
    return f"{value * 1e6:.0f} µs"
