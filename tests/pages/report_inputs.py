"""Releases and runs as the report reads them, of any size, made up but realistic."""

import math
import random
from typing import Any

POPULAR = (
    "google", "yahoo", "ebay", "mapquest", "myspace", "weather", "yahoo mail", "craigslist",
    "bank of america", "hotmail", "american idol", "dictionary", "white pages", "walmart", "ask",
    "msn", "home depot", "target", "southwest airlines", "amazon", "best buy", "cnn", "disney",
    "capital one", "wikipedia", "espn", "sears", "verizon wireless", "people search", "lyrics",
    "maps", "horoscopes", "game cheats", "nascar", "travelocity", "expedia", "wells fargo",
    "circuit city", "yellow pages", "zip codes", "irs", "tax forms", "mlb", "jet blue", "netflix",
    "translation", "driving directions", "used cars", "jobs", "recipes",
)  # fmt: skip

USERS = {"opt_in_discovery": 24_670, "opt_in_estimation": 1_298, "clients": 493_403}
Z = 1.959963984540054


def make_release(queries: int = 50, records: int = 72, seed: int = 1) -> dict[str, Any]:
    """Return a release with this many listed queries and records, and their ★ cells."""
    rng = random.Random(seed)
    names = [_query(index) for index in range(queries)]
    shares = [0.021 / (rank + 1) ** 0.95 for rank in range(queries)]
    query_rows = [
        {"cell": "query", "query": name, **_estimates(rng, share)}
        for name, share in zip(names, shares, strict=True)
    ]
    record_rows = _record_rows(rng, names, shares, records)
    rest = _rest(1 - sum(row["probability"] for row in query_rows))
    return {
        "format": "blender-dp release",
        "version": 1,
        "private": True,
        "head_list": "sha256:" + "5f" * 32,
        "created": "2026-11-15T09:00:00Z",
        "promise": {"epsilon": 4.0, "delta": 1e-05},
        "preset": "paper",
        "users": dict(USERS),
        "confidence": 0.95,
        "records": _by_probability([*record_rows, {"url": None, **rest, **_no_counts()}]),
        "queries": _by_probability([*query_rows, rest]),
    }


def make_run(queries: int = 50, records: int = 72) -> dict[str, Any]:
    """Return the run that made such a release."""
    return {
        "format": "blender-dp run",
        "version": 1,
        "private": True,
        "synthetic": False,
        "created": "2026-11-15T09:00:00Z",
        "software": {
            "blender-dp": "0.1.0",
            "python": "3.11.7",
            "duckdb": "2.0.0",
            "numpy": "2.4.6",
        },
        "parameters": _parameters(),
        "input": {
            "format": "aol",
            "files": ["user-ct-test-collection-01.txt", "user-ct-test-collection-02.txt"],
        },
        "users": dict(USERS),
        "head_list": {
            "candidate_queries": 120,
            "candidate_records": 144,
            "queries": queries,
            "records": records,
            "cells": queries + records + 1,
            "count_threshold": 6.76,
        },
        "promises": _promises(),
        "certificate": {
            "verdict": "kept",
            "sentence": "Every promise is kept.",
            "accounts": [
                {"to": "clients", "tight_epsilon": "3.72", "spent": {"epsilon": "4", "delta": "0"}},
            ],
        },
        "flaws": [
            {"id": "F1", "sentence": "3 of 72 opt-in variances are negative, so that their "
             "weights lie outside 0 to 1."},
            {"id": "F3", "sentence": "50 cells have no opt-in estimate; the clients' is taken."},
        ],
        "notes": ["The list was cut to 50 of 120 candidate queries, as --head-list-size asks."],
    }  # fmt: skip


def empty_release() -> dict[str, Any]:
    """Return a release whose head list is empty: everything is ⟨★,★⟩."""
    release = make_release(queries=0, records=0)
    for row in [*release["records"], *release["queries"]]:
        row.update(probability=1.0, raw_probability=1.0, std_error=None, low=None, high=None)
    return release


def with_query(release: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the release with this text as its most popular query and as its URL."""
    release["queries"][1]["query"] = text
    first = next(row for row in release["records"] if row["cell"] == "record")
    first.update(query=text, url=text)
    return release


def _query(index: int) -> str:
    name = POPULAR[index % len(POPULAR)]
    return name if index < len(POPULAR) else f"{name} {index // len(POPULAR) + 1}"


def _estimates(rng: random.Random, share: float) -> dict[str, Any]:
    opt_in_error = math.sqrt(share / 4000 + 1e-7)
    client_error = 0.00035
    opt_in = round(rng.gauss(share, opt_in_error) * 1298) / 1298
    client = rng.gauss(share, client_error)
    # As in the paper: now and then a variance is estimated as negative.
    variance = opt_in_error**2 * (-rng.uniform(0.4, 3) if rng.random() < 0.06 else 1)
    weight = client_error**2 / (client_error**2 + variance)
    blend = max(0.0, weight * opt_in + (1 - weight) * client)
    error = 1 / math.sqrt(1 / opt_in_error**2 + 1 / client_error**2) if variance > 0 else None
    return {
        "probability": blend,
        "std_error": error,
        "low": None if error is None else max(0.0, blend - Z * error),
        "high": None if error is None else blend + Z * error,
        "opt_in_probability": opt_in,
        "client_probability": client,
        "opt_in_weight": weight,
        "raw_probability": blend - 1e-06,
        "opt_in_std_error": opt_in_error if variance > 0 else None,
        "client_std_error": client_error,
    }


def _record_rows(
    rng: random.Random, names: list[str], shares: list[float], records: int
) -> list[dict[str, Any]]:
    rows = []
    for index in range(records):
        query = index % len(names)
        url = f"http://www.{names[query].replace(' ', '')}{index // len(names) or ''}.com"
        share = shares[query] * (0.7 if index < len(names) else 0.2)
        counts = {"opt_in_noisy_count": round(share * 1298), "client_report_count": 9_200}
        estimates = _estimates(rng, share)
        rows.append({"cell": "record", "query": names[query], "url": url, **estimates, **counts})
    for name, share in zip(names, shares, strict=True):
        only_clients = _estimates(rng, share * 0.2) | {
            "opt_in_probability": None,
            "opt_in_std_error": None,
            "opt_in_weight": None,
        }
        rows.append({"cell": "other_url", "query": name, "url": None, **only_clients})
        rows[-1].update(_no_counts())
    return rows


def _rest(share: float) -> dict[str, Any]:
    return {
        "cell": "other",
        "query": None,
        "probability": share,
        "std_error": 0.0012,
        "low": share - Z * 0.0012,
        "high": share + Z * 0.0012,
        "opt_in_probability": share + 0.004,
        "client_probability": share - 0.0005,
        "opt_in_weight": 0.061,
        "raw_probability": share,
        "opt_in_std_error": 0.006,
        "client_std_error": 0.0012,
    }


def _no_counts() -> dict[str, None]:
    return {"opt_in_noisy_count": None, "client_report_count": None}


def _by_probability(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: -row["probability"])


def _parameters() -> dict[str, Any]:
    return {
        "epsilon": 4.0,
        "delta": 1e-05,
        "head_list_size": 50,
        "preset": "paper",
        "head_list_user_fraction": 0.95,
        "query_budget_fraction": 0.85,
        "records_per_optin_user": 1,
        "records_per_client": 1,
        "project": True,
        "seed": None,
        "opt_in": 0.05,
    }


def _promises() -> list[dict[str, Any]]:
    promised = (
        ("24,670 opt-in users whose records found the head list", "trusted curator", 5e-06,
         "The curator counted one record of each and let out only noisy counts above a threshold."),
        ("1,298 opt-in users whose records were counted", "trusted curator", 0.0,
         "The curator counted one record of each and let out only counts with noise."),
        ("493,403 clients", "local", 1e-05,
         "Each device changed its record at random before it was sent; nobody saw the record."),
    )  # fmt: skip
    return [
        {"to": to, "model": model, "epsilon": 4.0, "delta": delta, "sentence": sentence}
        for to, model, delta, sentence in promised
    ]
