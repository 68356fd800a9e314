"""Release document ``release.json``: the result that local search and trends read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from blender_dp.core.blender import PRESETS, BlenderResult
from blender_dp.core.estimation.drift import Drift
from blender_dp.core.estimation.estimates import CONFIDENCE
from blender_dp.core.estimation.release import (
    Release,
    ReleasedEstimate,
    ReleasedQuery,
    ReleasedRecord,
)
from blender_dp.core.estimation.released_rows import Columns, query_rows, record_rows
from blender_dp.core.head_list.visible_names import visible
from blender_dp.wire.documents.document import read_json, require_path, verified
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.published.released_discovery import discovery_document, read_discovery

FORMAT = "blender-dp release"
MOST_NOUN_LETTERS = 40


def release_document(
    result: BlenderResult,
    certificate: dict[str, Any],
    *,
    created: str,
    names: Mapping[str, str | None] | None = None,
    relay_batch: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return every record and query with its estimates, and the integers they come from.

    Args:
        result: The result.
        certificate: The document of its certificate.
        created: Time of the result, in ISO 8601.
        names: What a ``query`` and a ``url`` are called, where they have names of their own.
        relay_batch: What became of the relay's batch, in a collection with a relay.
    """
    parameters = result.parameters
    return {
        "format": FORMAT,
        "version": 1,
        "private": result.private,
        "created": created,
        **({} if names is None else {"names": dict(names)}),
        "head_list": head_list_digest(result.head_list),
        "preset": parameters.preset,
        "promise": {"epsilon": parameters.epsilon, "delta": parameters.delta},
        "users": user_counts(result),
        "confidence": CONFIDENCE,
        "certificate": certificate,
        "drift": _drift(result, result.blended.drift),
        **_relay(result),
        **({} if relay_batch is None else {"relay_batch": dict(relay_batch)}),
        "unlisted_bound": result.curated.unlisted_bound,
        "discovery": discovery_document(result.curated),
        "disagreement": _disagreement(result),
        "records": _rows(record_rows(result)),
        "queries": _rows(query_rows(result)),
    }


def user_counts(result: BlenderResult) -> dict[str, int]:
    """Return the sizes of the groups of users, which are public."""
    if not PRESETS[result.parameters.preset].parts_users:
        users = {"opt_in": result.curated.opt_in_users, "clients": result.client_users}
        return users if result.relayed is None else users | {"relay_clients": result.relay_users}
    return {
        "opt_in_discovery": result.curated.discovery_users,
        "opt_in_estimation": result.curated.estimation_users,
        "clients": result.client_users,
    }


def _relay(result: BlenderResult) -> dict[str, Any]:
    """Return what is only said of a result with relay clients."""
    if result.relayed is None:
        return {}
    return {"relay_drift": _drift(result, result.blended.relay_drift)}


def _drift(result: BlenderResult, drift: Drift | None) -> dict[str, Any] | None:
    """Return whether two groups differ; None where nothing was compared."""
    if drift is None or not drift.degrees:
        return None
    names = result.head_list.queries
    return {
        "statistic": drift.statistic,
        "degrees": drift.degrees,
        "p_value": drift.p_value,
        "smallest_detectable": drift.smallest_detectable,
        "between_group_variance": drift.between_group_variance,
        "is_significant": drift.is_significant,
        "sentence": drift.sentence,
        "widest": [{"query": names[query], "z": z} for query, z in drift.widest],
    }


def _disagreement(result: BlenderResult) -> dict[str, Any] | None:
    """Return the records or queries in which the groups differ; None if not compared."""
    found = result.blended.disagreement
    if found is None or not found.comparisons:
        return None
    visible = found.visible()
    return {
        "comparisons": found.comparisons,
        "p_value": found.p_value,
        "is_alarming": found.is_alarming,
        "sentence": found.sentence,
        "widest": [{**_name(result, item), "z": z} for item, z in found.widest],
        "fake_weight": None if found.pushes is None else found.pushes.fake_weight,
        "visible_push": None if visible is None else asdict(visible),
    }


def _name(result: BlenderResult, item: int) -> dict[str, str | None]:
    """Return the names of a listed cell or of a query; queries are numbered after the cells."""
    head_list, cells = result.head_list, result.head_list.cells
    if item >= cells.cell_count:
        return {"query": head_list.queries[item - cells.cell_count], "url": None}
    q = int(cells.query_of_cell[item])
    return {"query": head_list.queries[q], "url": head_list.urls[q][item - cells.first_cell[q]]}


def _rows(columns: Columns) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def read_release(path: Path | str) -> Release:
    """Read a release; refuse one that breaks a rule.

    Unknown fields are ignored: a later version may add some.

    Args:
        path: The path of ``release.json``.
    """
    return release_of(read_json(require_path("path", path)), path)


def release_of(document: Mapping[str, Any], source: Path | str) -> Release:
    """Read a release that was parsed from ``source``, by the rules of ``read_release``."""
    fields = verified(source, document, FORMAT, has_digest=False)
    promise, users = fields.part("promise"), fields.part("users")
    relay_users, discovery_users = (
        users.whole(group, at_least=0) if users.has(group) else 0
        for group in ("relay_clients", "opt_in_discovery")
    )
    records = tuple(_read_record(row) for row in fields.parts("records"))
    queries = tuple(_read_query(row) for row in fields.parts("queries"))
    _require_rows(fields, "records", [(row.cell, row.query, row.url) for row in records])
    _require_rows(fields, "queries", [(row.cell, row.query) for row in queries])
    _require_most_probable_first(fields, "records", records)
    _require_most_probable_first(fields, "queries", queries)
    if {row.query for row in records} != {row.query for row in queries}:
        fields.refuse("records", "must be of the queries under queries, and of each of them")
    return Release(
        private=fields.flag("private"),
        created=fields.text("created"),
        preset=fields.text("preset"),
        epsilon=promise.number("epsilon", least=0),
        delta=promise.number("delta", least=0, most=1),
        opt_in_users=_read_opt_in_users(users),
        client_users=users.whole("clients", at_least=0) + relay_users,
        relay_users=relay_users,
        discovery_users=discovery_users,
        confidence=fields.number("confidence", least=0.5, most=0.999999),
        queries=queries,
        records=records,
        unlisted_bound=_read_unlisted_bound(fields),
        fake_weight=_read_fake_weight(fields),
        discovery=read_discovery(fields),
        **_read_names(fields),
    )


def _read_names(fields: Fields) -> dict[str, str | None]:
    """Return what queries and URLs are called; a release without names of its own has none."""
    if not fields.has("names") or fields.value("names") is None:
        return {}
    names = fields.part("names")
    found = {f"{noun}_name": names.name_or_none(noun) for noun in ("query", "url")}
    for noun in found.values():
        if noun is not None and not (0 < len(noun) <= MOST_NOUN_LETTERS and visible(noun) == noun):
            fields.refuse("names", f"must have {MOST_NOUN_LETTERS} visible letters at most")
    return found


def _read_fake_weight(fields: Fields) -> float | None:
    """Return how many clients a fake report counts for; older releases do not state it."""
    if not fields.has("disagreement") or fields.value("disagreement") is None:
        return None
    disagreement = fields.part("disagreement")
    if not disagreement.has("fake_weight") or disagreement.value("fake_weight") is None:
        return None
    return disagreement.number("fake_weight", least=0)


def _read_opt_in_users(users: Fields) -> int:
    """Return the number of counted opt-in users: all in ``sharp``, a part in ``paper``."""
    counted = "opt_in" if users.has("opt_in") else "opt_in_estimation"
    return users.whole(counted, at_least=0)


def _read_query(row: Fields) -> ReleasedQuery:
    return ReleasedQuery(**_read_estimate(row, ("query", "other")))


def _read_record(row: Fields) -> ReleasedRecord:
    read = _read_estimate(row, ("record", "other_url", "other"))
    url = row.name_or_none("url")
    if (url is not None) != (read["cell"] == "record"):
        row.refuse("url", "must be a text in rows of records, and null in all others")
    return ReleasedRecord(**read, url=url)


def _read_estimate(row: Fields, cells: Collection[str]) -> dict[str, Any]:
    cell, query = row.text("cell"), row.name_or_none("query")
    if cell not in cells:
        row.refuse("cell", f"must be one of {', '.join(cells)}")
    if (query is None) != (cell == "other"):
        row.refuse("query", "must be a text, and null only where the row is everything else")
    low, high = (row.number_or_none(name, least=0, most=1) for name in ("low", "high"))
    std_error = row.number_or_none("std_error", least=0)
    if (low is None) != (high is None) or (low or 0) > (high or 0):
        row.refuse("low and high", "must be an interval, or both null")
    if (std_error is None) != (low is None):
        row.refuse("std_error", "must be there where the interval is, and null where it is not")
    client_probability, client_std_error = _read_clients(row)
    return {
        "cell": cell,
        "query": query,
        "probability": row.number("probability"),
        "raw_probability": row.number("raw_probability"),
        "std_error": std_error,
        "low": low,
        "high": high,
        "client_probability": client_probability,
        "client_std_error": client_std_error,
        "opt_in_probability": row.number_or_none("opt_in_probability"),
        "opt_in_std_error": row.number_or_none("opt_in_std_error", least=0),
        "opt_in_weight": row.number_or_none("opt_in_weight"),
    }


def _read_clients(row: Fields) -> tuple[float | None, float | None]:
    """Return what all clients say; only with relay clients they are more than the local ones."""
    group = "all_clients" if row.has("all_clients_probability") else "client"
    probability = row.number_or_none(f"{group}_probability")
    std_error = row.number_or_none(f"{group}_std_error", least=0)
    if probability is None and std_error is not None:
        row.refuse(f"{group}_probability", "must be a number, and null only where its error is")
    return probability, std_error


def _require_rows(fields: Fields, name: str, keys: Sequence[tuple[str | None, ...]]) -> None:
    if len(set(keys)) != len(keys):
        fields.refuse(name, "must have every row once")
    if [key[0] for key in keys].count("other") != 1:
        fields.refuse(name, "must have one row of everything else")


def _require_most_probable_first(
    fields: Fields, name: str, rows: Sequence[ReleasedEstimate]
) -> None:
    if any(before.probability < after.probability for before, after in pairwise(rows)):
        fields.refuse(name, "must be sorted by probability, the largest first")


def _read_unlisted_bound(fields: Fields) -> float | None:
    if not fields.has("unlisted_bound"):
        return None
    return fields.number_or_none("unlisted_bound", least=0, most=1)
