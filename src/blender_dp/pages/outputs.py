"""Output files of one result: tables, documents and the report."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from blender_dp.core.blender import BlenderResult
from blender_dp.core.certificate.doubts import epsilon_warning
from blender_dp.core.certificate.flaws import count_flaws, unsound_weights
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.certificate.promises import promises
from blender_dp.core.create_head_list.paper import count_threshold
from blender_dp.core.curator.budget import Budget
from blender_dp.core.parameters import delta_warning
from blender_dp.engine.released_tables import query_table, record_table
from blender_dp.pages.html_report import render_report
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.published.release import release_document, user_counts

SOFTWARE = ("blender-dp", "duckdb", "narwhals", "numpy", "pyarrow", "cryptography")
REPORT = "report.html"
FILES = (
    *("records.parquet", "records.csv", "queries.parquet", "queries.csv"),
    *("head_list.json", "opt_in_estimates.json", "client_estimates.json", "certificate.json"),
    "relay_estimates.json",
    *("release.json", "run.json", REPORT),
)
"""Names of the output files; only a directory without other files is replaced."""
TIMINGS = "timings"
"""Part of run.json that depends on raw rows; written only on request."""


def write_outputs(
    directory: Path,
    result: BlenderResult,
    certificate: ListCertificate,
    *,
    created: str,
    facts: dict[str, Any],
    relay_batch: Mapping[str, Any] | None = None,
) -> None:
    """Write the tables, the documents and the report of one result.

    Args:
        directory: Existing directory for the files.
        result: The result.
        certificate: What everybody spent on it.
        created: Time of the result, in ISO 8601.
        facts: How it was made: input, engine, seed, perhaps timings.
        relay_batch: What became of the relay's batch, in a collection with a relay.
    """
    _write_table(directory / "records", record_table(result))
    _write_table(directory / "queries", query_table(result))
    certified = certificate_document(certificate)
    release = release_document(
        result, certified, created=created, names=facts.get("names"), relay_batch=relay_batch
    )
    run = run_document(result, certified, created=created, facts=facts)
    write_document(directory / "head_list.json", head_list_document(result.head_list))
    write_document(directory / "release.json", release)
    write_document(directory / "run.json", run)
    shown = {name: part for name, part in run.items() if name != TIMINGS}
    (directory / REPORT).write_text(render_report(release, shown), encoding="utf-8")


def run_document(
    result: BlenderResult,
    certificate: dict[str, Any],
    *,
    created: str,
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Return how the result was made. Its only counts are numbers of users."""
    parameters, head_list = result.parameters, result.head_list
    return {
        "format": "blender-dp run",
        "version": 1,
        "private": result.private,
        "created": created,
        "parameters": parameters.document(),
        "users": user_counts(result),
        "head_list": {
            "candidate_queries": result.curated.candidate_queries,
            "candidate_records": result.curated.candidate_records,
            "queries": len(head_list.queries),
            "records": len(head_list.records()),
            "cells": head_list.cells.cell_count,
        },
        "method": method(result),
        "promises": [asdict(promise) for promise in promises(result)],
        "certificate": certificate,
        "flaws": [asdict(flaw) for flaw in count_flaws(result)],
        "notes": notes(result),
        "software": {"python": platform.python_version(), **{s: version(s) for s in SOFTWARE}},
        **facts,
    }


def method(result: BlenderResult) -> dict[str, Any]:
    """Return the automatic choices of a run and their reasons, based on public numbers."""
    choice, mechanism = result.curated.choice, result.head_list.mechanism
    if choice is None:
        return {"discovery": {"count_threshold": float(count_threshold(result.parameters))}}
    return {
        "discovery": {
            "branch": choice.branch,
            "reason": choice.reason,
            "spent": [
                {"on": line.release, "epsilon": float(line.epsilon), "delta": float(line.delta)}
                for line in Budget.of(result.parameters).ledger(choice.branch)
            ],
        },
        "clients": {"query_share": mechanism.query_share, **_reason(mechanism.query_share)},
    }


def _reason(query_share: float) -> dict[str, str]:
    """Return the reason why some clients report only the query; empty if none do."""
    if not query_share:
        return {}
    sentence = (
        f"{query_share:.0%} of the clients report only the query, not the page they clicked. "
        "This makes query estimates more precise."
    )
    return {"reason": sentence}


def notes(result: BlenderResult) -> list[str]:
    """Return remarks that a reader needs before the numbers."""
    wanted, found = result.parameters.head_list_size, len(result.head_list.queries)
    users = sum(user_counts(result).values())
    warnings = (
        epsilon_warning(result.parameters.epsilon),
        delta_warning(result.parameters.delta, users),
    )
    said = [warning for warning in warnings if warning is not None]
    records, queries = unsound_weights(result) if count_flaws(result) else (0, 0)
    if not found:
        said.append(
            "No record passed the threshold: the opt-in group is too small for a head list. "
            "More opt-in users, a larger ε or a larger δ would help."
        )
        return said
    if wanted is not None and found < wanted:
        said.append(
            f"The head list has {found} queries, fewer than the {wanted} asked for: no more "
            "passed the threshold. More opt-in users or a larger ε would list more."
        )
    if records + queries:
        said.append(
            f"{records} estimates of records and {queries} of queries have a blend weight outside "
            "0 to 1, because the paper's variance estimate is negative there (flaw F1). They are "
            "marked, may be far off and have no interval."
        )
    for drift in (result.blended.drift, result.blended.relay_drift):
        if drift is not None and drift.is_significant:
            said.append(drift.sentence)
    disagreement = result.blended.disagreement
    if disagreement is not None and disagreement.is_alarming:
        said.append(disagreement.sentence)
    return said


def _write_table(path: Path, table: pa.Table) -> None:
    pa.parquet.write_table(table, path.with_suffix(".parquet"))
    pa.csv.write_csv(table, path.with_suffix(".csv"))
