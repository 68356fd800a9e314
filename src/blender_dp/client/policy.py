"""What a device asks of a head list before it reports against it.

A list comes from a service that the device need not trust. Every rule here closes one way of
learning more than one report's worth: a list of another signer, one made for this device alone, one
that asks too often or costs too much.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from uuid import UUID

from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.parameters import exact
from blender_dp.wire.campaign_promise import CampaignPromise
from blender_dp.wire.signatures import require_key
from blender_dp.wire.signed_head_list import SignedHeadList


class Rule(StrEnum):
    """What a refused list breaks."""

    CAMPAIGN = "campaign"
    PROMISE = "promise"
    KEY = "key"
    NOT_PRIVATE = "not-private"
    TOO_SMALL = "too-small"
    CHANGED = "changed"
    EPSILON = "epsilon"
    BUDGET = "budget"
    TOO_SOON = "too-soon"


class RefusedListError(BlenderError):
    """A head list that this device does not report against; nothing was spent."""

    def __init__(self, rule: Rule, sentence: str) -> None:
        self.rule = rule
        super().__init__(sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPolicy:
    """What one device lets a service ask of it."""

    public_key: str | None = None
    """The key that lists must be signed with; None keeps to the first key seen of a service."""
    smallest_list: int = 32
    """Fewer queries would tell too much of who reports at all."""
    most_epsilon: float = 8.0
    """The ε that all reports of a window may cost together, and so each one of them."""
    window: timedelta = timedelta(days=90)
    shortest_interval: timedelta = timedelta(days=7)
    """Between two reports to one service."""

    def __post_init__(self) -> None:
        if self.public_key is not None:
            require_key(self.public_key)
        if self.smallest_list < 1:
            raise ParameterError("smallest_list", "1 or more", self.smallest_list)
        if not 0 < self.most_epsilon < float("inf"):
            raise ParameterError("most_epsilon", "a finite number above 0", self.most_epsilon)
        for name in ("window", "shortest_interval"):
            if getattr(self, name) < timedelta(0):
                raise ParameterError(name, "0 or longer", getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What the ledger knows when a list arrives."""

    public_key: str | None
    """The key seen first of this service."""
    list_digest: str | None
    """The list seen before of this campaign."""
    spent: Fraction
    """The ε of all reports in the window."""
    last_report: datetime | None
    """To this service."""


def require_genuine(
    signed: SignedHeadList, campaign: UUID, policy: ClientPolicy, history: History
) -> None:
    """Refuse a list that is not the one and public list of this campaign.

    Args:
        signed: Its signature and log entry hold already.
        campaign: Whose list was asked for.
        policy: This device's own rules.
        history: What was seen before.
    """
    if signed.campaign != campaign:
        raise RefusedListError(Rule.CAMPAIGN, "the head list is that of another campaign")
    pinned = policy.public_key or history.public_key
    if pinned is not None and signed.public_key != pinned:
        sentence = "the head list is signed with another key than this service's"
        raise RefusedListError(Rule.KEY, sentence)
    if history.list_digest is not None and signed.digest != history.list_digest:
        sentence = "the head list differs from the one that this campaign showed before"
        raise RefusedListError(Rule.CHANGED, sentence)
    if not signed.head_list.private:
        sentence = "the head list was made with a seed, for an experiment; nobody may report to it"
        raise RefusedListError(Rule.NOT_PRIVATE, sentence)
    if len(signed.head_list.queries) < policy.smallest_list:
        raise RefusedListError(
            Rule.TOO_SMALL,
            f"the head list must have at least {policy.smallest_list} queries; "
            f"it has {len(signed.head_list.queries)}",
        )


def require_promised(signed: SignedHeadList, promise: CampaignPromise) -> None:
    """Refuse a list that asks for more than its campaign's description promises.

    Args:
        signed: Its signature holds already.
        promise: The description that the service shows now.
    """
    if promise.campaign != signed.campaign or promise.digest != signed.description:
        sentence = "the head list is bound to another description than the campaign shows"
        raise RefusedListError(Rule.PROMISE, sentence)
    mechanism = signed.head_list.mechanism
    if exact(mechanism.epsilon) > promise.epsilon or exact(mechanism.delta) > promise.delta:
        sentence = "the head list asks for a larger ε or δ than the campaign promises"
        raise RefusedListError(Rule.PROMISE, sentence)


def require_affordable(
    signed: SignedHeadList, policy: ClientPolicy, history: History, now: datetime
) -> None:
    """Refuse a list whose report would cost too much, or comes too soon after the last one."""
    epsilon, most = exact(signed.head_list.mechanism.epsilon), exact(policy.most_epsilon)
    if epsilon > most:
        raise RefusedListError(
            Rule.EPSILON,
            f"the head list asks for ε = {float(epsilon):g}; "
            f"this device allows at most {policy.most_epsilon:g}",
        )
    if history.spent + epsilon > most:
        raise RefusedListError(
            Rule.BUDGET,
            f"the head list asks for ε = {float(epsilon):g}; {float(most - history.spent):g} "
            f"of {policy.most_epsilon:g} is left in {policy.window.days} days",
        )
    last = history.last_report
    if last is not None and now - last < policy.shortest_interval:
        raise RefusedListError(
            Rule.TOO_SOON,
            f"the last report to this service is less than {_days(policy.shortest_interval)} old",
        )


def _days(interval: timedelta) -> str:
    return f"{interval / timedelta(days=1):g} days"
