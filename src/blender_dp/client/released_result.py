"""Release, computed again from the documents that were published with it.

The public log names the head list and the release. The estimates and the certificate are checked
here: the release must follow from their integers and contain the same certificate.
"""

from collections.abc import Mapping
from math import isclose
from typing import Any

from blender_dp.core.blender import BlenderResult, finish
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.errors import InputError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportingClients
from blender_dp.wire.published.certificate import certificate_in
from blender_dp.wire.published.estimates import clients_in, opt_in_in
from blender_dp.wire.published.head_list import head_list_in
from blender_dp.wire.published.relay_estimates import Outcome, RelayedSide, relayed_in
from blender_dp.wire.published.release import release_document, release_of
from blender_dp.wire.published.released_discovery import as_older

HEAD_LIST = "head_list.json"
OPT_IN_ESTIMATES = "opt_in_estimates.json"
CLIENT_ESTIMATES = "client_estimates.json"
RELAY_ESTIMATES = "relay_estimates.json"
CERTIFICATE = "certificate.json"
RELEASE = "release.json"


def released_result(
    documents: Mapping[str, Mapping[str, Any]],
) -> tuple[BlenderResult, ListCertificate]:
    """Return the result of a campaign and what everybody spent on it.

    Documents that do not belong together are refused.

    Args:
        documents: All published documents, by the name of their file.
    """
    result = computed_result(documents)
    relayed = relayed_side(documents, result.head_list)
    published = certificate_in(CERTIFICATE, dict(documents[CERTIFICATE]), result.head_list)
    release = documents[RELEASE]
    again = release_document(
        result,
        published.document,
        created=str(release.get("created")),
        names=_names(release),
        relay_batch=None if relayed is None else relayed.summary(),
    )
    if not _is_same(as_older(again, release), release):
        raise InputError(RELEASE, "does not follow from the released integers")
    is_small = relayed is not None and relayed.outcome is Outcome.TOO_FEW
    certificate = require_kept(certify_curated(result.curated, has_small_batch=is_small))
    published.require(certificate)
    return result, certificate


def computed_result(documents: Mapping[str, Mapping[str, Any]]) -> BlenderResult:
    """Return the result that follows from the published integers; the release is not compared."""
    head_list = head_list_in(HEAD_LIST, documents[HEAD_LIST])
    curated = opt_in_in(OPT_IN_ESTIMATES, documents[OPT_IN_ESTIMATES], head_list).estimate()
    clients = ReportingClients(
        counts=clients_in(CLIENT_ESTIMATES, documents[CLIENT_ESTIMATES], head_list),
        records_per_client=curated.parameters.records_per_client,
    )
    relayed = relayed_side(documents, head_list)
    through_relay = None if relayed is None else relayed.clients(head_list)
    return finish(curated, clients, relayed=through_relay)


def relayed_side(
    documents: Mapping[str, Mapping[str, Any]], head_list: HeadList
) -> RelayedSide | None:
    """Return what became of the relay's batch; None if the list has no relay."""
    if head_list.relay is None:
        return None
    return relayed_in(RELAY_ESTIMATES, documents[RELAY_ESTIMATES], head_list)


def _names(release: Mapping[str, Any]) -> Mapping[str, str | None] | None:
    """Return what the release calls queries and URLs, which no integer decides."""
    if "names" not in release:
        return None
    read = release_of(release, RELEASE)
    return {"query": read.query_name, "url": read.url_name}


def _is_same(ours: object, theirs: object) -> bool:
    """Tell whether two documents agree; processors may differ in the last digits of a number."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return set(ours) == set(theirs) and all(_is_same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        pairs: Any = zip(ours, theirs, strict=False)
        return len(ours) == len(theirs) and all(_is_same(a, b) for a, b in pairs)
    if isinstance(ours, float) and isinstance(theirs, float | int):
        return isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-9)
    return ours == theirs
