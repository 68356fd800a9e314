"""Relay of a campaign: who passes reports on, and the rules that devices and collector hold to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blender_dp.core.blender import require_relay_preset
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.curator.budget import with_usual_share
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.wire.relayed.listed_relay import RELAY_ADDRESS_RULE, is_relay_address
from blender_dp.wire.reports.packed_items import from_text
from blender_dp.wire.service.signatures import KEY_BYTES

WAIT_HOURS = 48
"""Hours after the clients' side closed for which a release waits for the batch, unless told."""
MOST_BATCH = 10**10
MOST_EPSILON_CAP = 64.0
DEFAULTS = RelayRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRelay:
    """The relay of a campaign, run by somebody other than the collector."""

    address: str
    """Where devices send their reports; ends with a slash."""
    public_key: str
    """The relay's Ed25519 key, which signs its batch."""
    least_batch: int
    """The relay passes on no smaller batch."""
    epsilon_cap: float = DEFAULTS.epsilon_cap
    """The most that a report may reveal to relay and collector together."""
    dishonest: float = DEFAULTS.dishonest
    """The share of a batch that may come from dishonest clients."""

    def __post_init__(self) -> None:
        if not is_relay_address(self.address):
            rule = RELAY_ADDRESS_RULE.removeprefix("must be ")
            raise ParameterError("relay.address", rule, self.address)
        if from_text(self.public_key, KEY_BYTES) is None:
            rule = f"{KEY_BYTES} bytes in base64url without padding"
            raise ParameterError("relay.public_key", rule, self.public_key)
        # Each range is written as "not inside", so that NaN fails too.
        if not 0 < self.epsilon_cap <= MOST_EPSILON_CAP:
            rule = f"above 0 and at most {MOST_EPSILON_CAP:g}"
            raise ParameterError("relay.epsilon_cap", rule, self.epsilon_cap)
        if not 0 <= self.dishonest < 1:
            raise ParameterError("relay.dishonest", "at least 0 and below 1", self.dishonest)
        if not 1 <= self.least_batch <= MOST_BATCH:
            raise ParameterError("relay.least_batch", f"from 1 to {MOST_BATCH}", self.least_batch)

    @property
    def rules(self) -> RelayRules:
        """The limits within which reports are precise."""
        return RelayRules(epsilon_cap=self.epsilon_cap, dishonest=self.dishonest)

    def require_possible(self, parameters: Parameters) -> None:
        """Refuse parameters with which no relay clients can be counted."""
        require_relay_preset(parameters, self.least_batch)
        if self.rules.honest(self.least_batch) < 1:
            rule = "large enough for an honest report"
            raise ParameterError("relay.least_batch", rule, self.least_batch)

    def document(self) -> dict[str, Any]:
        """Return the relay as a campaign's description has it; fractional numbers are texts."""
        return {
            "address": self.address,
            "public_key": self.public_key,
            "least_batch": self.least_batch,
            "epsilon_cap": repr(float(self.epsilon_cap)),
            "dishonest": repr(float(self.dishonest)),
        }


def drawn_parameters(
    parameters: Parameters, relay: CampaignRelay | None, *, opt_in_users: int
) -> Parameters:
    """Return the parameters that a campaign's list is drawn with: η by its public numbers."""
    relay_clients = 0 if relay is None else relay.least_batch
    return with_usual_share(parameters, opt_in_users=opt_in_users, relay_clients=relay_clients)


def read_relay(document: Mapping[str, Any] | None) -> CampaignRelay | None:
    """Return the relay of a stored description; None if the campaign has none."""
    if document is None:
        return None
    return CampaignRelay(
        address=document["address"],
        public_key=document["public_key"],
        least_batch=document["least_batch"],
        epsilon_cap=float(document["epsilon_cap"]),
        dishonest=float(document["dishonest"]),
    )
