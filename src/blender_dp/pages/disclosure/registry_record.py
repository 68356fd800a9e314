"""Record of a result for the Differential Privacy Deployments Registry, all fields of tier 3.

The registry is kept by OpenDP and others at https://registry.opendp.org. Fields, types and choices
are those of ``schemas/deployments-schema.yaml`` in github.com/opendp/deployments-registry-data,
commit 057e5d8.
"""

import re
from typing import Any

from blender_dp.core.errors import BlenderError
from blender_dp.pages.disclosure.deployment import Deployment
from blender_dp.pages.disclosure.disclosed import Disclosed
from blender_dp.pages.disclosure.registry_texts import (
    POST_PROCESSING,
    UNIT_DETAILS,
    actors,
    composition,
    data_domain,
    description,
    mechanisms,
    model_details,
    number_of,
    parameters_details,
    preprocessing,
    release_details,
    to_fill_in,
    trust_assumptions,
    unprotected_quantities,
    utility,
)

_PAPER = {
    "evidence_source_type": "Peer-reviewed publication",
    "article": {
        "author": "Brendan Avent, Aleksandra Korolova, David Zeber, Torgeir Hovden, "
        "Benjamin Livshits",
        "title": "BLENDER: Enabling Local Search with a Hybrid Differential Privacy Model",
        "journal": "Journal of Privacy and Confidentiality",
        "volume": 9,
        "number": 2,
        "year": 2019,
    },
}


def registry_record(disclosed: Disclosed, deployment: Deployment) -> dict[str, Any]:
    """Return the record; what only the organisation knows is marked where it did not answer."""
    if disclosed.created is None or not disclosed.users:
        raise BlenderError(
            "A registry record is about a published result; give the directory or the result of a "
            "run, not a head list."
        )
    date = disclosed.created[:10]
    return {
        "url_slug": _slug(deployment.name, deployment.curator, date[:4]),
        "deployment": {
            "basic": _basic(disclosed, deployment, date),
            "dp_variant": {
                "variant_name": _variant(disclosed),
                "data_domain": data_domain(disclosed),
                "unprotected_quantities": unprotected_quantities(disclosed),
            },
            "privacy_loss": {
                "privacy_unit": "User-level",
                "privacy_unit_details": UNIT_DETAILS,
                "number_of_privacy_units": disclosed.people,
                "privacy_parameters": _parameters(disclosed),
                "privacy_parameters_details": parameters_details(disclosed),
            },
            "deployment_model": _model(disclosed, deployment),
            "implementation": _implementation(disclosed, deployment),
            "administrative": {
                "evidence_sources": {"deployment": _source(deployment), "method": _PAPER},
                "status": "Draft",
                "registry_authors": list(deployment.authors) or [to_fill_in("who writes this")],
                "tier": 3,
            },
        },
    }


def _basic(disclosed: Disclosed, deployment: Deployment, date: str) -> dict[str, Any]:
    curator_type = deployment.curator_type or to_fill_in("Government, Industry or Nonprofit")
    return {
        "name": deployment.name or to_fill_in("name of the published result"),
        "data_curators": [
            {
                "data_curator_name": deployment.curator or to_fill_in("who publishes it"),
                "data_curator_type": curator_type,
            }
        ],
        "description": deployment.description or description(disclosed),
        "intended_use": deployment.intended_use or to_fill_in("what the result is for"),
        "data_product_type": "Summary statistics",
        "data_product_region": deployment.region or to_fill_in("where the users live"),
        "data_product_sector": deployment.sector
        or to_fill_in("Technology, Healthcare, Education, Government, Energy or Finance"),
        "publication_date": date,
    }


def _model(disclosed: Disclosed, deployment: Deployment) -> dict[str, Any]:
    return {
        "model_name": "Central" if disclosed.from_log else "Varies",
        "model_name_details": model_details(disclosed),
        "trust_assumptions": trust_assumptions(disclosed),
        "actors": actors(disclosed),
        "release_type": "One release",
        "release_type_details": release_details(disclosed, deployment),
        "data_source_type": "Static",
        "data_source_type_details": "The records that users had when they took part. Nothing is "
        "added to this result later.",
        "access_type": "Non-interactive",
        "access_type_details": "Everybody gets the same published files. Nobody can put questions "
        "to the raw records, so no budget is divided among analysts.",
    }


def _implementation(disclosed: Disclosed, deployment: Deployment) -> dict[str, Any]:
    return {
        "preprocessing_and_hyperparameter_tuning": preprocessing(disclosed, deployment),
        "mechanisms": mechanisms(disclosed, deployment),
        "composition": composition(disclosed),
        "post_processing": POST_PROCESSING,
        "justification": deployment.justification
        or to_fill_in("why these parameters, these mechanisms and this trust"),
        "utility": utility(disclosed),
        "additional_information": "Anybody can compute the privacy loss again from the published "
        "files, with exact fractions: blender-dp certify DIRECTORY.",
    }


def _source(deployment: Deployment) -> dict[str, Any]:
    return {
        "evidence_source_type": "Formal publication by the deploying organization",
        "misc": {
            "title": deployment.source_title or to_fill_in("title of a page about it"),
            "url": deployment.source_url or to_fill_in("address of that page"),
        },
    }


def _parameters(disclosed: Disclosed) -> dict[str, float]:
    """Return the largest promise to a group, if nobody colludes; the details have all of them."""
    promised = [one for one in disclosed.accounts if "if relay" not in one.to]
    epsilon = max(one.promised_epsilon for one in promised)
    delta = max(one.promised_delta for one in promised)
    return {"epsilon": number_of(epsilon)} | ({"delta": number_of(delta)} if delta else {})


def _variant(disclosed: Disclosed) -> str:
    has_delta = any(one.promised_delta for one in disclosed.accounts)
    return "Approximate DP" if has_delta else "Pure DP"


def _slug(*parts: str | None) -> str:
    words = [re.sub(r"\W+", "-", part.lower()).strip("-") for part in parts if part]
    return "-".join(filter(None, words))
