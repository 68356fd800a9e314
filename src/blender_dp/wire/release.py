"""The result as it is released: ``release.json``, what local search and trends read."""

from typing import Any

from blender_dp.core.blender import BlenderResult
from blender_dp.core.estimates import CONFIDENCE
from blender_dp.core.released_rows import Columns, query_rows, record_rows
from blender_dp.wire.head_list import head_list_digest

FORMAT = "blender-dp release"


def release_document(result: BlenderResult, *, private: bool, created: str) -> dict[str, Any]:
    """Return every record and query with its estimates, and the integers they come from."""
    parameters = result.parameters
    return {
        "format": FORMAT,
        "version": 1,
        "private": private,
        "created": created,
        "head_list": head_list_digest(result.head_list),
        "preset": parameters.preset,
        "promise": {"epsilon": parameters.epsilon, "delta": parameters.delta},
        "users": user_counts(result),
        "confidence": CONFIDENCE,
        "records": _rows(record_rows(result)),
        "queries": _rows(query_rows(result)),
    }


def user_counts(result: BlenderResult) -> dict[str, int]:
    """Return how many users did what; public numbers."""
    return {
        "opt_in_discovery": result.curated.discovery_users,
        "opt_in_estimation": result.curated.estimation_users,
        "clients": result.client_users,
    }


def _rows(columns: Columns) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
