"""What each side hands to the blend: released integers and what they are divided by.

``opt_in_estimates.json`` comes from the curator, ``client_estimates.json`` from whoever
collected the reports. Both name the head list they belong to. Probabilities and variances are
recomputed from the integers by the reader.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from blender_dp.core.blender import Curated
from blender_dp.core.cells import IntArray
from blender_dp.core.channel import LocalAlgChannel
from blender_dp.core.errors import HeadListMismatchError, ParameterError
from blender_dp.core.estimate_client_probabilities.paper import client_estimates
from blender_dp.core.estimate_optin_probabilities.paper import opt_in_estimates
from blender_dp.core.estimates import GroupEstimates
from blender_dp.core.head_list import HeadList
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.wire.documents import read_document, sealed
from blender_dp.wire.fields import Fields
from blender_dp.wire.head_list import head_list_digest

OPT_IN_FORMAT = "blender-dp opt-in estimates"
CLIENT_FORMAT = "blender-dp client estimates"


def opt_in_document(curated: Curated, parameters: Parameters) -> dict[str, Any]:
    """Return the curator's noisy counts of the listed cells and, last, of ⟨⋆,⋆⟩."""
    released = ~np.isnan(curated.opt_in.cells.probability)
    return sealed(
        {
            "format": OPT_IN_FORMAT,
            "version": 1,
            "private": curated.head_list.private,
            "head_list": head_list_digest(curated.head_list),
            "parameters": _as_strings(parameters.document()),
            "discovery_users": curated.discovery_users,
            "estimation_users": curated.estimation_users,
            "candidate_queries": curated.candidate_queries,
            "candidate_records": curated.candidate_records,
            "noisy_counts": curated.opt_in.counts[released].tolist(),
        }
    )


def read_opt_in(path: Path, head_list: HeadList) -> tuple[Curated, Parameters]:
    """Read the curator's side of ``head_list``."""
    fields = read_document(path, OPT_IN_FORMAT)
    _require_same_list(fields, head_list)
    parameters = _read_parameters(fields.part("parameters"))
    estimation_users = fields.whole("estimation_users", at_least=2)
    estimates = opt_in_estimates(
        fields.counts("noisy_counts", len(head_list.records()) + 1),
        head_list.cells,
        total=parameters.records_per_optin_user * estimation_users,
        scale=parameters.laplace_scale,
    )
    curated = Curated(
        discovery_users=fields.whole("discovery_users", at_least=1),
        estimation_users=estimation_users,
        candidate_queries=fields.whole("candidate_queries", at_least=0),
        candidate_records=fields.whole("candidate_records", at_least=0),
        head_list=head_list,
        opt_in=estimates,
    )
    return curated, parameters


def client_document(head_list: HeadList, report_counts: IntArray) -> dict[str, Any]:
    """Return how many reports named each cell."""
    return sealed(
        {
            "format": CLIENT_FORMAT,
            "version": 1,
            "private": head_list.private,
            "head_list": head_list_digest(head_list),
            "report_counts": report_counts.tolist(),
        }
    )


def read_clients(path: Path, head_list: HeadList) -> GroupEstimates:
    """Read the clients' side of ``head_list``."""
    fields = read_document(path, CLIENT_FORMAT)
    _require_same_list(fields, head_list)
    counts = fields.counts("report_counts", head_list.cells.cell_count)
    if counts.sum() < 2 or counts.min() < 0:
        fields.refuse("report_counts", "must count two reports or more")
    channel = LocalAlgChannel.of(head_list.cells, head_list.mechanism)
    return client_estimates(counts, channel)


def _require_same_list(fields: Fields, head_list: HeadList) -> None:
    if not fields.names("head_list", head_list_digest(head_list)):
        raise HeadListMismatchError(f"{fields.path}: belongs to another head list")


def _as_strings(values: Mapping[str, Any]) -> dict[str, Any]:
    decimals = ("epsilon", "delta", "head_list_user_fraction", "query_budget_fraction")
    return {k: repr(float(v)) if k in decimals else v for k, v in values.items()}


def _read_parameters(fields: Fields) -> Parameters:
    fields.only(*Parameters.__slots__)
    preset = cast("Preset", fields.text("preset"))  # Parameters refuses what is none
    try:
        return Parameters(
            epsilon=fields.decimal("epsilon"),
            delta=fields.decimal("delta"),
            head_list_size=fields.whole_or_none("head_list_size", at_least=1),
            preset=preset,
            head_list_user_fraction=fields.decimal("head_list_user_fraction"),
            query_budget_fraction=fields.decimal("query_budget_fraction"),
            records_per_optin_user=fields.whole("records_per_optin_user", at_least=1),
            records_per_client=fields.whole("records_per_client", at_least=1),
            project=fields.flag("project"),
        )
    except ParameterError as error:
        fields.refuse(error.name, "is outside its range")
