"""Report of a campaign's release, as the service offers it: it has what ``run`` writes."""

from collections.abc import Mapping
from typing import Any

from blender_dp.client.released_result import (
    CLIENT_ESTIMATES,
    HEAD_LIST,
    OPT_IN_ESTIMATES,
    RELAY_ESTIMATES,
    computed_result,
)
from blender_dp.core.head_list.visible_names import visible
from blender_dp.pages.html_report import render_report
from blender_dp.pages.outputs import run_document
from blender_dp.pages.words import Words
from blender_dp.service.campaign import Campaign
from blender_dp.service.storage.store import Document

_INTEGERS = {
    OPT_IN_ESTIMATES: Document.OPT_IN_ESTIMATES,
    CLIENT_ESTIMATES: Document.CLIENT_ESTIMATES,
    RELAY_ESTIMATES: Document.RELAY_ESTIMATES,
}
"""Documents with released integers, by the name of their file; the last only with a relay."""


def render_released(campaign: Campaign, documents: Mapping[Document, Mapping[str, Any]]) -> str:
    """Return the page of a release; promises and notes follow from the published integers.

    Args:
        campaign: The campaign, which gives the page its title and its nouns.
        documents: All that it published.
    """
    release = documents[Document.RELEASE]
    result = computed_result(
        {
            HEAD_LIST: documents[Document.HEAD_LIST]["head_list"],
            **{name: documents[kind] for name, kind in _INTEGERS.items() if kind in documents},
        }
    )
    words = Words(
        query_name=campaign.query_name, url_name=campaign.url_name, title=visible(campaign.name)
    )
    run = run_document(
        result,
        dict(release["certificate"]),
        created=str(release["created"]),
        facts={"campaign": _campaign_facts(campaign), **words.facts()},
    )
    return render_report(release, run, has_files=False)


def _campaign_facts(campaign: Campaign) -> dict[str, Any]:
    facts = {
        "id": str(campaign.id),
        "collected by": campaign.controller,
        "contact": campaign.contact,
        "purpose": campaign.purpose,
    }
    return {name: value for name, value in facts.items() if value is not None}
