"""Who is promised what, with the numbers of this run, in words; its certificate proves them."""

from dataclasses import dataclass

from blender_dp.core.blender import BlenderResult
from blender_dp.core.channels.mechanism import SubsetSelectionMechanism
from blender_dp.core.create_head_list.paper import enumerated_delta
from blender_dp.core.parameters import exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What one group of users may rely on."""

    to: str
    model: str
    epsilon: float
    delta: float
    sentence: str


def promises(result: BlenderResult) -> list[Promise]:
    """Return the promise to each group, as its PRIVACY.md proves it."""
    if result.parameters.preset == "sharp":
        opt_in = [_to_all_opt_in_users(result)]
    else:
        opt_in = [_to_discovery_users(result), _to_estimation_users(result)]
    return [*opt_in, _to_clients(result)]


def _to_all_opt_in_users(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.curated.opt_in_users:,} opt-in users",
        model="trusted curator",
        epsilon=result.parameters.epsilon,
        delta=result.parameters.delta,
        sentence="The curator saw their records and published a list and sums with noise, which "
        "hide what any one of them contributed.",
    )


def _to_discovery_users(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.curated.discovery_users:,} opt-in users whose records found the list",
        model="trusted curator",
        epsilon=result.parameters.epsilon,
        delta=float(enumerated_delta(result.parameters, exact(result.parameters.epsilon))),
        sentence="The curator saw their records. Whatever anybody concludes from the published "
        "list would have been almost as likely had any one of them had other records.",
    )


def _to_estimation_users(result: BlenderResult) -> Promise:
    return Promise(
        to=f"{result.curated.estimation_users:,} opt-in users whose records were counted",
        model="trusted curator",
        epsilon=result.parameters.epsilon,
        delta=0.0,
        sentence="The curator saw their records and published counts with noise, which hide "
        "what any one of them contributed.",
    )


def _to_clients(result: BlenderResult) -> Promise:
    is_sharp = isinstance(result.head_list.mechanism, SubsetSelectionMechanism)
    return Promise(
        to=f"{result.client_users:,} clients",
        model="local",
        epsilon=result.parameters.epsilon,
        delta=0.0 if is_sharp else result.parameters.delta,
        sentence="Nobody saw their records. Each device sent one randomised report that it "
        "could have sent for any other record as well.",
    )
