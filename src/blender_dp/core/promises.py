"""Who is promised what, with the numbers of this run: the start of its certificate."""

from dataclasses import dataclass
from fractions import Fraction

from blender_dp.core.blender import BlenderResult
from blender_dp.core.channel import LocalAlgChannel
from blender_dp.core.enclosure import exp_enclosure
from blender_dp.core.parameters import exact

_BITS = 128


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
    epsilon, delta = result.parameters.epsilon, result.parameters.delta
    return [
        Promise(
            to=f"{result.curated.discovery_users:,} opt-in users whose records found the list",
            model="trusted curator",
            epsilon=epsilon,
            delta=discovery_delta(result),
            sentence="The curator saw their records. Whatever anybody concludes from the published "
            "list would have been almost as likely had any one of them had other records.",
        ),
        Promise(
            to=f"{result.curated.estimation_users:,} opt-in users whose records were counted",
            model="trusted curator",
            epsilon=epsilon,
            delta=0.0,
            sentence="The curator saw their records and published counts with noise, which hide "
            "what any one of them contributed.",
        ),
        Promise(
            to=f"{result.client_users:,} clients",
            model="local",
            epsilon=epsilon,
            delta=delta,
            sentence="Nobody saw their records. Each device sent one randomised report that it "
            "could have sent for any other record as well.",
        ),
    ]


def discovery_delta(result: BlenderResult) -> float:
    """Return δ/(1+a), what CreateHeadList spends of δ."""
    a = exp_enclosure(-1 / result.parameters.laplace_scale, _BITS)
    return float(exact(result.parameters.delta) / (1 + Fraction(a.low, 1 << _BITS)))


def certificate(result: BlenderResult) -> dict[str, object]:
    """Return the client channel's exact privacy, enumerated over every pair of inputs."""
    mechanism = result.head_list.mechanism
    channel = LocalAlgChannel.of(result.head_list.cells, mechanism)
    reports = mechanism.records_per_client
    spent = reports * channel.excess(exact(mechanism.epsilon) / reports)
    return {
        "client_epsilon": reports * channel.tight_epsilon(),
        "client_delta": float(spent),
        "discovery_delta": discovery_delta(result),
        "verdict": "kept" if spent <= exact(mechanism.delta) else "broken",
    }
