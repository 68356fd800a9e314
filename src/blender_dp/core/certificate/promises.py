"""Promises to each group of users, in words, with the numbers of one run."""

from dataclasses import dataclass

from blender_dp.core.blender import PRESETS, BlenderResult
from blender_dp.core.create_head_list.paper import enumerated_delta
from blender_dp.core.parameters import exact

RELAY_MODEL = "relay"
UNLESS_COLLUSION = "unless relay and collector collude"
IF_COLLUSION = "if relay and collector collude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Promise to one group of users."""

    to: str
    model: str
    epsilon: float
    delta: float
    sentence: str


def promises(result: BlenderResult) -> list[Promise]:
    """Return the promise to each group, as its PRIVACY.md proves it."""
    if PRESETS[result.parameters.preset].parts_users:
        opt_in = [_to_discovery_users(result), _to_estimation_users(result)]
    else:
        opt_in = [_to_all_opt_in_users(result)]
    return [*opt_in, _to_clients(result), *_to_relay_clients(result)]


def _to_all_opt_in_users(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.curated.opt_in_users:,} opt-in users",
        model="trusted curator",
        epsilon=result.parameters.epsilon,
        delta=result.parameters.delta,
        sentence="The curator saw their records and published a list and totals with random "
        "noise. The noise hides what any one of them contributed.",
    )


def _to_discovery_users(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.curated.discovery_users:,} opt-in users whose records found the list",
        model="trusted curator",
        epsilon=result.parameters.epsilon,
        delta=float(enumerated_delta(result.parameters, exact(result.parameters.epsilon))),
        sentence="The curator saw their records and published a list. The same list would have "
        "been almost as likely if any one of them had other records.",
    )


def _to_estimation_users(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.curated.estimation_users:,} opt-in users whose records were counted",
        model="trusted curator",
        epsilon=result.parameters.epsilon,
        delta=0.0,
        sentence="The curator saw their records and published totals with random noise. The noise "
        "hides what any one of them contributed.",
    )


def _to_clients(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.client_users:,} clients",
        model="local",
        epsilon=result.parameters.epsilon,
        delta=result.parameters.delta if result.head_list.mechanism.delta else 0.0,
        sentence="Nobody saw their records. Each device sent one scrambled report. It could have "
        "sent the same report for any other record.",
    )


def _to_relay_clients(result: BlenderResult) -> list[Promise]:
    """Return the promises to the relay clients of the result, if there are any."""
    relay = result.head_list.relay
    if relay is None or result.relayed is None:
        return []
    to = f"{result.relay_users:,} relay clients"
    return [
        Promise(
            to=f"{to}, {UNLESS_COLLUSION}",
            model=RELAY_MODEL,
            epsilon=relay.epsilon,
            delta=relay.delta,
            sentence="Each device sent one scrambled report through a relay. The relay mixed all "
            "of them and handed them to the organisation without names. This promise holds as "
            "long as the two do not work together.",
        ),
        Promise(
            to=f"{to}, {IF_COLLUSION}",
            model=RELAY_MODEL,
            epsilon=relay.report_epsilon,
            delta=0.0,
            sentence="If the relay does work together with the organisation, they can tell whose "
            "report is whose. Then this is what the scrambled report by itself still promises.",
        ),
    ]
