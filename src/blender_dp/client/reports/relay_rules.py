"""Rules for a report through a relay: the list's claim is recomputed, and ε0 has its own limits.

A relay client has (ε, δ) as long as the relay does not work together with the collector, and ε0 if
they do. The list says both numbers. A device believes neither: it compares them with the campaign's
description and computes them again from the list.
"""

from fractions import Fraction

from blender_dp.client.policy import ClientPolicy, Cost, History, RefusedError, Rule, days_of
from blender_dp.client.transport import require_address
from blender_dp.core.channels.mechanism import ThroughRelay
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.parameters import exact
from blender_dp.wire.relayed.listed_relay import ListedRelay
from blender_dp.wire.service.campaign_promise import CampaignPromise, RelayPromise
from blender_dp.wire.service.signed_head_list import SignedHeadList

MOST_IN_TWO_CELLS = 1 << 24
"""Most uniform reports that two cells may hold: a hostile list must not keep a device busy."""


def require_described_relay(signed: SignedHeadList, promise: CampaignPromise) -> None:
    """Refuse a list whose relay is not that of its campaign's description, or asks for more.

    Args:
        signed: The list; its signature is already checked.
        promise: The campaign's current description.
    """
    described, mechanism = promise.relay, signed.head_list.relay
    if described is None and signed.relay is None:
        return
    if described is None or signed.relay is None or mechanism is None:
        sentence = "the head list and the campaign's description must both name a relay, or none"
        raise RefusedError(Rule.RELAY, sentence)
    _require_same_relay(signed.relay, described)
    if exact(mechanism.epsilon) > promise.epsilon or exact(mechanism.delta) > promise.delta:
        sentence = "the head list asks relay clients for a larger ε or δ than the campaign promises"
        raise RefusedError(Rule.PROMISE, sentence)
    _require_same_limits(mechanism, described)


def _require_same_relay(listed: ListedRelay, described: RelayPromise) -> None:
    if listed.address != described.address:
        sentence = "the head list names another address of the relay than the description"
        raise RefusedError(Rule.RELAY, sentence)
    if listed.public_key != described.public_key:
        sentence = "the head list names another key of the relay than the description"
        raise RefusedError(Rule.RELAY, sentence)


def _require_same_limits(mechanism: ThroughRelay, described: RelayPromise) -> None:
    if mechanism.least_batch != described.least_batch:
        sentence = "the head list names another smallest batch than the description"
        raise RefusedError(Rule.RELAY, sentence)
    if exact(mechanism.dishonest) != described.dishonest:
        sentence = "the head list names another share of dishonest clients than the description"
        raise RefusedError(Rule.RELAY, sentence)
    if exact(mechanism.report_epsilon) > described.epsilon_cap:
        sentence = "the head list asks relay clients for a larger ε0 than the description permits"
        raise RefusedError(Rule.RELAY, sentence)


def require_relay(signed: SignedHeadList) -> ListedRelay:
    """Return the relay of a list; refuse one that a device cannot use safely."""
    mechanism = signed.head_list.relay
    if signed.relay is None or mechanism is None:
        raise RefusedError(Rule.RELAY, "the campaign has no relay")
    try:
        require_address(signed.relay.address)
    except ParameterError:
        sentence = "the relay's address must be https, or http on this machine"
        raise RefusedError(Rule.RELAY, sentence) from None
    require_claim(mechanism, signed.head_list.cells)
    return signed.relay


def require_claim(mechanism: ThroughRelay, cells: Cells) -> None:
    """Refuse a list whose batches do not keep the (ε, δ) that it claims for relay clients."""
    if 2 * mechanism.honest * mechanism.channel(cells).exact_pout > MOST_IN_TWO_CELLS:
        sentence = "the relay's smallest batch is too large for a device to check the promise"
        raise RefusedError(Rule.RELAY, sentence)
    if not mechanism.keeps(cells, exact(mechanism.epsilon), exact(mechanism.delta)):
        sentence = "the head list claims a smaller ε or δ for relay clients than its batches keep"
        raise RefusedError(Rule.PROMISE, sentence)


def require_relay_budget(cost: Cost, policy: ClientPolicy, history: History) -> None:
    """Refuse an ε0 above the limit of a report, or of all relayed reports of the window."""
    most, most_total = exact(policy.most_relay_epsilon), exact(policy.most_relay_total)
    asked = f"the campaign asks relay clients for ε0 = {float(cost.relay_epsilon):g}"
    if cost.relay_epsilon > most:
        sentence = f"{asked}; this device allows at most {policy.most_relay_epsilon:g}"
        raise RefusedError(Rule.EPSILON, sentence)
    if history.spent_relay + cost.relay_epsilon > most_total:
        left = float(max(most_total - history.spent_relay, Fraction()))
        raise RefusedError(
            Rule.BUDGET,
            f"{asked}; {left:g} of {policy.most_relay_total:g} is left in {days_of(policy.window)}",
        )
