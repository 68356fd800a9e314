"""Documents with the released integers of each side, the input of the blend.

``opt_in_estimates.json`` comes from the curator, ``client_estimates.json`` from the collector of
the reports. Both name the head list they belong to. Estimates are computed from the integers by
the core, never here.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from blender_dp.core.blender import PRESETS, Curated
from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.discovery import BranchChoice, branch_of
from blender_dp.core.curator.list_choice import lists_queries
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.curator.published_side import PublishedSide
from blender_dp.core.curator.value_law import ValueLaw, value_law
from blender_dp.core.errors import HeadListMismatchError
from blender_dp.core.estimation.whole_list import WholeList
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.head_list.known_list import KnownFrom
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.document import read_document, verified, with_digest
from blender_dp.wire.documents.fields import LARGEST, Fields
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.published.parameters import parameters_document, read_parameters
from blender_dp.wire.reports.report import codec_of

OPT_IN_FORMAT = "blender-dp opt-in estimates"
CLIENT_FORMAT = "blender-dp client estimates"


def opt_in_document(curated: Curated) -> dict[str, Any]:
    """Return the curator's released integers: noisy counts, or in ``sharp`` a whole tally."""
    if curated.opt_in.tally is not None:
        released = {"tally": _tally_document(curated.opt_in.tally)}
    else:
        has_count = ~np.isnan(curated.opt_in.cells.probability)
        released = {"noisy_counts": curated.opt_in.counts[has_count].tolist()}
    return with_digest(
        {
            "format": OPT_IN_FORMAT,
            "version": 1,
            "private": curated.head_list.private,
            "head_list": head_list_digest(curated.head_list),
            "parameters": parameters_document(curated.parameters),
            "opt_in_users": curated.opt_in_users,
            "discovery_users": curated.discovery_users,
            "estimation_users": curated.estimation_users,
            "candidate_queries": curated.candidate_queries,
            "candidate_records": curated.candidate_records,
            **released,
        }
    )


def read_opt_in(path: Path, head_list: HeadList) -> PublishedSide:
    """Read the curator's side of ``head_list``."""
    return _opt_in_of(read_document(path, OPT_IN_FORMAT), head_list)


def opt_in_in(source: str, document: Mapping[str, Any], head_list: HeadList) -> PublishedSide:
    """Return the curator's side in a document that came from ``source``, with the same rules."""
    return _opt_in_of(verified(source, document, OPT_IN_FORMAT), head_list)


def _opt_in_of(fields: Fields, head_list: HeadList) -> PublishedSide:
    _require_same_list(fields, head_list)
    parameters = read_parameters(fields.part("parameters"))
    read_integers = _tally if PRESETS[parameters.preset].releases_tally else _noisy_counts
    return PublishedSide(
        parameters=parameters,
        opt_in_users=fields.whole("opt_in_users", at_least=1),
        discovery_users=fields.whole("discovery_users", at_least=1),
        estimation_users=fields.whole("estimation_users", at_least=2),
        candidate_queries=fields.whole("candidate_queries", at_least=0),
        candidate_records=fields.whole("candidate_records", at_least=0),
        head_list=head_list,
        integers=read_integers(fields, head_list, parameters),
    )


def _noisy_counts(fields: Fields, head_list: HeadList, _: Parameters) -> IntArray:
    return fields.counts("noisy_counts", len(head_list.records()) + 1)


def _tally(fields: Fields, head_list: HeadList, parameters: Parameters) -> OptInTally:
    users = fields.whole("estimation_users", at_least=2)
    return _read_tally(fields.part("tally"), head_list, users, parameters)


def _tally_document(tally: OptInTally) -> Mapping[str, Any]:
    """Return the integers, and those computed from the list before it was trimmed."""
    whole_list = tally.whole_list
    return {
        **_coverage_gap(tally),
        "branch": tally.choice.branch,
        "weight_sum": tally.choice.weight_sum,
        "values": tally.values.tolist(),
        "sums": tally.sums.tolist(),
        "folded_cells": tally.folded_cells,
        "record_squares": tally.record_squares,
        "query_squares": tally.query_squares,
        **({} if tally.known is None else {"known": tally.known.tolist()}),
        "whole_list": None
        if whole_list is None
        else {name: repr(float(value)) for name, value in dataclasses.asdict(whole_list).items()},
    }


def _coverage_gap(tally: OptInTally) -> Mapping[str, int]:
    """Return the number that chose between records and queries, if one did."""
    difference = tally.coverage_gap
    return {} if difference is None else {"coverage_gap": difference}


def _read_tally(
    part: Fields, head_list: HeadList, users: int, parameters: Parameters
) -> OptInTally:
    """Read the integers; values that follow from them, such as the branch, are computed again."""
    budget, found = Budget.of(parameters), len(head_list.discovered())
    weight_sum = part.whole_or_none("weight_sum", at_least=-LARGEST)
    if (weight_sum is None) != (not budget.scalar_share):
        part.refuse("weight_sum", "must be there unless one record per user was declared")
    choice, known = _read_choice(part, weight_sum, users, budget), _read_known(part, found)
    return OptInTally(
        users=users,
        choice=choice,
        values=_read_values(part, found, known, value_law(choice.branch, budget)),
        sums=part.counts("sums", head_list.cells.cell_count),
        folded_cells=part.whole("folded_cells", at_least=0),
        record_squares=part.whole("record_squares", at_least=-LARGEST),
        query_squares=part.whole("query_squares", at_least=-LARGEST),
        known=known,
        coverage_gap=_read_coverage_gap(part, head_list, parameters),
        whole_list=_read_whole_list(part),
    )


def _read_choice(part: Fields, weight_sum: int | None, users: int, budget: Budget) -> BranchChoice:
    """Return the branch; documents that do not name it are older than today's rule."""
    choice = branch_of(weight_sum, users, budget, is_former=not part.has("branch"))
    if part.has("branch") and part.text("branch") != choice.branch:
        part.refuse("branch", "must be the one that follows from weight_sum")
    return choice


def _read_values(part: Fields, records: int, known: IntArray | None, law: ValueLaw) -> IntArray:
    """Return the values; the public rule must list a record with each of them."""
    values = part.counts("values", records)
    is_known = np.zeros(records, dtype=bool) if known is None else known != KnownFrom.NOWHERE
    for value, stays in zip(values.tolist(), is_known.tolist(), strict=True):
        if not (law.may_pass(value) if stays else law.passes(value)):
            part.refuse("values", "must each be large enough for the record to be listed")
    return values


def _read_coverage_gap(part: Fields, head_list: HeadList, parameters: Parameters) -> int | None:
    """Return the number that chose between records and queries; the list must follow from it."""
    of_queries, difference = parameters.list_of == "queries", None
    if part.has("coverage_gap") != (parameters.list_of == "auto"):
        part.refuse("coverage_gap", "must be there if and only if list_of is auto")
    if parameters.list_of == "auto":
        difference = part.whole("coverage_gap", at_least=-LARGEST)
        of_queries = lists_queries(difference, Budget.of(parameters))
    if head_list.queries and head_list.is_of_queries != of_queries:
        part.refuse("values", "must be of a list of records or of queries, as the parameters say")
    return difference


def _read_known(part: Fields, records: int) -> IntArray | None:
    """Return where each listed record was known from; None if there was no known list.

    Documents that do not name their branch are older than that: 1 says that a record was known.
    """
    if not part.has("known"):
        return None
    known = part.counts("known", records)
    if not part.has("branch"):
        if not np.isin(known, (0, 1)).all():
            part.refuse("known", "must have 1 for a record that was known before, else 0")
        return np.where(known == 1, KnownFrom.UNSAID, KnownFrom.NOWHERE)
    if not np.isin(known, (KnownFrom.NOWHERE, KnownFrom.RELEASE, KnownFrom.ELSEWHERE)).all():
        rule = "must have 1 for a record of an earlier release, 2 for one known from elsewhere"
        part.refuse("known", f"{rule}, else 0")
    return known


def _read_whole_list(part: Fields) -> WholeList | None:
    if part.value("whole_list") is None:
        return None
    inner = part.part("whole_list")
    numbers = {field.name: inner.decimal(field.name) for field in dataclasses.fields(WholeList)}
    for name, value in numbers.items():
        if not 0 <= value < LARGEST:
            inner.refuse(name, "is outside its range")
    if not 0 < numbers["record_concentration"] <= numbers["query_concentration"] <= 1:
        inner.refuse("query_concentration", "must be from record_concentration, above 0, to 1")
    if numbers["value_ratio"] < 1:
        inner.refuse("value_ratio", "must be at least 1")
    return WholeList(**numbers)


def client_document(head_list: HeadList, reports: ReportCounts) -> dict[str, Any]:
    """Return the number of reports per cell, and per query if clients were asked for it."""
    return with_digest(
        {
            "format": CLIENT_FORMAT,
            "version": 1,
            "private": head_list.private,
            "head_list": head_list_digest(head_list),
            "report_counts": reports.cells.tolist(),
            **codec_of(head_list).count_fields(reports),
        }
    )


def read_clients(path: Path, head_list: HeadList) -> ReportCounts:
    """Read the clients' side of ``head_list``."""
    return _clients_of(read_document(path, CLIENT_FORMAT), head_list)


def clients_in(source: str, document: Mapping[str, Any], head_list: HeadList) -> ReportCounts:
    """Return the clients' side in a document that came from ``source``, with the same rules."""
    return _clients_of(verified(source, document, CLIENT_FORMAT), head_list)


def _clients_of(fields: Fields, head_list: HeadList) -> ReportCounts:
    _require_same_list(fields, head_list)
    counts = fields.counts("report_counts", head_list.cells.cell_count)
    return codec_of(head_list).read_counts(fields, counts, head_list)


def _require_same_list(fields: Fields, head_list: HeadList) -> None:
    if not fields.names("head_list", head_list_digest(head_list)):
        raise HeadListMismatchError(f"{fields.path}: belongs to another head list")
