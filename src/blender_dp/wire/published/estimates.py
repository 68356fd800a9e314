"""What each side hands to the blend: released integers and what they are divided by.

``opt_in_estimates.json`` comes from the curator, ``client_estimates.json`` from whoever
collected the reports. Both name the head list they belong to. Probabilities and variances are
recomputed from the integers by the reader.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from blender_dp.core.blender import Curated
from blender_dp.core.channels.mechanism import SubsetSelectionMechanism
from blender_dp.core.channels.subset_selection import SubsetChannels
from blender_dp.core.curator.budget import Budget
from blender_dp.core.errors import HeadListMismatchError
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.estimation.estimates import GroupEstimates, OptInEvidence
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.document import read_document, sealed, verified
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.published.parameters import parameters_document, read_parameters
from blender_dp.wire.published.tally import read_tally, tally_document

OPT_IN_FORMAT = "blender-dp opt-in estimates"
CLIENT_FORMAT = "blender-dp client estimates"


def opt_in_document(curated: Curated) -> dict[str, Any]:
    """Return what the curator released: noisy counts, or in ``sharp`` all its integers."""
    evidence = curated.opt_in.evidence
    if isinstance(evidence, OptInEvidence):
        released = {"tally": tally_document(evidence.tally)}
    else:
        has_count = ~np.isnan(curated.opt_in.cells.probability)
        released = {"noisy_counts": curated.opt_in.counts[has_count].tolist()}
    return sealed(
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


def read_opt_in(path: Path, head_list: HeadList) -> Curated:
    """Read the curator's side of ``head_list``."""
    return _opt_in_of(read_document(path, OPT_IN_FORMAT), head_list)


def opt_in_in(source: str, document: Mapping[str, Any], head_list: HeadList) -> Curated:
    """Return the curator's side in a document that came from ``source``, with the same rules."""
    return _opt_in_of(verified(source, document, OPT_IN_FORMAT), head_list)


def _opt_in_of(fields: Fields, head_list: HeadList) -> Curated:
    _require_same_list(fields, head_list)
    parameters = read_parameters(fields.part("parameters"))
    estimation_users = fields.whole("estimation_users", at_least=2)
    read = _read_sharp if parameters.preset == "sharp" else _read_paper
    estimates = read(fields, head_list, parameters, estimation_users)
    evidence = estimates.evidence
    return Curated(
        parameters=parameters,
        opt_in_users=fields.whole("opt_in_users", at_least=1),
        discovery_users=fields.whole("discovery_users", at_least=1),
        estimation_users=estimation_users,
        candidate_queries=fields.whole("candidate_queries", at_least=0),
        candidate_records=fields.whole("candidate_records", at_least=0),
        choice=evidence.tally.choice if isinstance(evidence, OptInEvidence) else None,
        head_list=head_list,
        opt_in=estimates,
    )


def _read_paper(
    fields: Fields, head_list: HeadList, parameters: Parameters, users: int
) -> GroupEstimates:
    return paper_optin.opt_in_estimates(
        fields.counts("noisy_counts", len(head_list.records()) + 1),
        head_list.cells,
        total=parameters.records_per_optin_user * users,
        scale=parameters.laplace_scale,
    )


def _read_sharp(
    fields: Fields, head_list: HeadList, parameters: Parameters, users: int
) -> GroupEstimates:
    budget = Budget.of(parameters)
    tally = read_tally(fields.part("tally"), head_list, users, budget)
    return sharp_optin.opt_in_estimates(tally, head_list, budget)


def client_document(head_list: HeadList, reports: ReportCounts) -> dict[str, Any]:
    """Return how many reports named each cell, and each query where clients were asked for it."""
    document = {
        "format": CLIENT_FORMAT,
        "version": 1,
        "private": head_list.private,
        "head_list": head_list_digest(head_list),
        "report_counts": reports.cells.tolist(),
    }
    if isinstance(head_list.mechanism, SubsetSelectionMechanism):
        document |= {
            "reports": reports.cell_reports,
            "query_report_counts": reports.queries.tolist(),
            "query_reports": reports.query_reports,
        }
    return sealed(document)


def read_clients(path: Path, head_list: HeadList) -> ReportCounts:
    """Read the clients' side of ``head_list``."""
    return _clients_of(read_document(path, CLIENT_FORMAT), head_list)


def clients_in(source: str, document: Mapping[str, Any], head_list: HeadList) -> ReportCounts:
    """Return the clients' side in a document that came from ``source``, with the same rules."""
    return _clients_of(verified(source, document, CLIENT_FORMAT), head_list)


def _clients_of(fields: Fields, head_list: HeadList) -> ReportCounts:
    _require_same_list(fields, head_list)
    counts = fields.counts("report_counts", head_list.cells.cell_count)
    if isinstance(head_list.mechanism, SubsetSelectionMechanism):
        return _read_subset_counts(fields, counts, head_list)
    if counts.sum() < 2 or counts.min() < 0:
        fields.refuse("report_counts", "must count two reports or more")
    return ReportCounts.one_cell_each(counts, head_list.cells)


def _read_subset_counts(fields: Fields, cells: IntArray, head_list: HeadList) -> ReportCounts:
    """Read what reports of subset selection named: each names its d, none twice."""
    channels = SubsetChannels.of(head_list.cells, head_list.mechanism)
    reports = ReportCounts(
        cells=cells,
        cell_reports=fields.whole("reports", at_least=2),
        queries=fields.counts("query_report_counts", head_list.cells.query_count),
        query_reports=fields.whole("query_reports", at_least=0),
    )
    for name, counts, total, channel in (
        ("report_counts", reports.cells, reports.cell_reports, channels.records),
        ("query_report_counts", reports.queries, reports.query_reports, channels.queries),
    ):
        is_possible = counts.min() >= 0 and counts.max() <= total
        if not is_possible or int(counts.sum()) != total * channel.subset_size:
            fields.refuse(name, "must be what so many reports can name")
    return reports


def _require_same_list(fields: Fields, head_list: HeadList) -> None:
    if not fields.names("head_list", head_list_digest(head_list)):
        raise HeadListMismatchError(f"{fields.path}: belongs to another head list")
