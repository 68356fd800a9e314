"""Releases made by hand, for what reads them."""

from collections.abc import Mapping
from typing import Any

from blender_dp.core.estimation.release import Release, ReleasedQuery, ReleasedRecord

USUAL_ERROR = 0.0005


def numbers(probability: float, **changed: Any) -> dict[str, Any]:
    """Return the numbers of a row on which both groups agree; ``changed`` replaces some."""
    error = changed.pop("error", USUAL_ERROR)
    usual = {
        "probability": probability,
        "raw_probability": probability,
        "std_error": error,
        "low": max(0.0, probability - 1.96 * error),
        "high": min(1.0, probability + 1.96 * error),
        "client_probability": probability,
        "client_std_error": error,
        "opt_in_probability": probability,
        "opt_in_std_error": 2 * error,
        "opt_in_weight": 0.2,
    }
    return usual | changed


def without_interval(probability: float, **changed: Any) -> dict[str, Any]:
    """Return the numbers of a row that flaw F1 spoilt."""
    spoilt = {"std_error": None, "low": None, "high": None, "opt_in_std_error": None}
    return numbers(probability, **spoilt, **changed)


def query_row(query: str, probability: float, **changed: Any) -> ReleasedQuery:
    return ReleasedQuery(cell="query", query=query, **numbers(probability, **changed))


def record_row(query: str, url: str, probability: float, **changed: Any) -> ReleasedRecord:
    row = numbers(probability, **changed)
    return ReleasedRecord(cell="record", query=query, url=url, **row)


def release_of(
    queries: Mapping[str, float] | list[ReleasedQuery],
    records: list[ReleasedRecord] | None = None,
    **changed: Any,
) -> Release:
    """Return a release of these queries; without records, each has one, as probable as itself."""
    rows = (
        [query_row(name, p) for name, p in queries.items()]
        if isinstance(queries, Mapping)
        else queries
    )
    if records is None:
        records = [record_row(row.query or "", "a.example", row.probability) for row in rows]
    rest = 1 - sum(row.probability for row in rows)
    fields: dict[str, Any] = {
        "private": True,
        "created": "2026-11-15T09:00:00Z",
        "preset": "paper",
        "epsilon": 4.0,
        "delta": 1e-5,
        "opt_in_users": 1_298,
        "client_users": 493_403,
        "confidence": 0.95,
        "queries": _sorted([*rows, ReleasedQuery(cell="other", query=None, **numbers(rest))]),
        "records": _sorted(
            [*records, ReleasedRecord(cell="other", query=None, url=None, **numbers(rest))]
        ),
    }
    fields |= changed
    if fields["preset"] == "paper":  # of twenty opt-in users one is counted
        fields.setdefault("discovery_users", 19 * fields["opt_in_users"])
    return Release(**fields)


def _sorted(rows: list[Any]) -> tuple[Any, ...]:
    return tuple(sorted(rows, key=lambda row: -row.probability))
