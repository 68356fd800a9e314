"""Field ``discovery`` of a release: how its list was found."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from blender_dp.core.blender import Curated
from blender_dp.core.estimation.discovery_facts import discovery_facts
from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.wire.documents.fields import Fields


def discovery_document(curated: Curated) -> dict[str, Any] | None:
    """Return how the list was found; None where no single rule says it."""
    facts = discovery_facts(curated)
    return None if facts is None else asdict(facts)


def as_older(document: dict[str, Any], release: Mapping[str, Any]) -> dict[str, Any]:
    """Return a release's document without what ``release``, of an older version, does not say."""
    ours, theirs = document["discovery"], release.get("discovery")
    if ours is None or not isinstance(theirs, Mapping) or "known_elsewhere" in theirs:
        return document
    fewer = {name: of for name, of in ours.items() if name != "known_elsewhere"}
    return document | {"discovery": fewer}


def read_discovery(fields: Fields) -> ReleasedDiscovery | None:
    """Read the field; older releases do not have it."""
    if not fields.has("discovery") or fields.value("discovery") is None:
        return None
    part = fields.part("discovery")
    slopes = [part.number_or_none(f"{side}_slope", least=0) for side in ("right", "left")]
    sigma = part.number_or_none("sigma", least=0)
    if [one is None for one in (*slopes, sigma)] not in ([False, False, True], [True, True, False]):
        part.refuse("sigma", "must be null where there are two slopes, and only there")
    return ReleasedDiscovery(
        branch=part.name_or_none("branch"),
        users=part.whole("users", at_least=1),
        candidate_queries=part.whole("candidate_queries", at_least=0),
        candidate_records=part.whole("candidate_records", at_least=0),
        threshold=part.number("threshold", least=0),
        right_slope=slopes[0],
        left_slope=slopes[1],
        sigma=sigma,
        average_weight=part.number_or_none("average_weight", least=1),
        average_weight_error=part.number_or_none("average_weight_error", least=0),
        record_concentration=part.number_or_none("record_concentration", least=0, most=1),
        concentration_error=part.number_or_none("concentration_error", least=0),
        known_elsewhere=part.flag("known_elsewhere") if part.has("known_elsewhere") else None,
    )
