"""Rules of a device: conditions on a head list before a report, and on a contribution.

A list comes from a service that the device need not trust. Each rule prevents one way of learning
more than one report reveals: a list of another signer, a list made for this device only, a list
that asks for more than was promised, asks too often or costs too much.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from uuid import UUID

from blender_dp.client.ledger.rows import Role, RowState
from blender_dp.core.channels.report_cost import report_cost
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import exact
from blender_dp.wire.service.campaign_promise import CampaignPromise
from blender_dp.wire.service.signatures import require_key
from blender_dp.wire.service.signed_head_list import SignedHeadList


class Rule(StrEnum):
    """Rule that a refused list or contribution breaks."""

    CAMPAIGN = "campaign"
    PROMISE = "promise"
    KEY = "key"
    NOT_PRIVATE = "not-private"
    TOO_SMALL = "too-small"
    CHANGED = "changed"
    NOT_OPEN = "not-open"
    ROLE = "role"
    EPSILON = "epsilon"
    DELTA = "delta"
    BUDGET = "budget"
    TOO_SOON = "too-soon"
    RELAY = "relay"
    TOKEN = "token"  # noqa: S105 - a rule, no secret


class RefusedError(BlenderError):
    """This device refused a list or a contribution; nothing was spent."""

    def __init__(self, rule: Rule, sentence: str) -> None:
        self.rule = rule
        super().__init__(sentence)


_LONGEST = timedelta(days=36_525)
"""Longest window; a longer one would begin before the first valid date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPolicy:
    """Limits on what a service may request from one device."""

    public_key: str | None = None
    """Key that must have signed lists; None trusts the first key seen of a service."""
    smallest_list: int = 32
    """Smallest list in queries; with fewer, reporting at all would reveal too much."""
    most_epsilon: float = 8.0
    """Largest total ε of everything sent to all services within a window."""
    most_delta: float = 1e-5
    """Largest δ of a list, and of all contributions and relayed reports of a window together."""
    most_relay_epsilon: float = 8.0
    """Largest ε0 of a relayed report: what relay and collector could learn from it together."""
    most_relay_total: float = 16.0
    """Largest total ε0 of all relayed reports within a window."""
    window: timedelta = timedelta(days=90)
    shortest_interval: timedelta = timedelta(days=7)
    """Shortest time between two reports to one service, relayed or not."""
    token_delay: timedelta = timedelta(days=1)
    """A report with a token is sent after a random time, up to this, after the token came:
    otherwise the issuer could recognise the report by its time."""

    def __post_init__(self) -> None:
        if self.public_key is not None:
            require_key(self.public_key)
        if type(self.smallest_list) is not int or self.smallest_list < 1:
            raise ParameterError("smallest_list", "1 or more", self.smallest_list)
        for name in ("most_epsilon", "most_relay_epsilon", "most_relay_total"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ParameterError(name, "a finite number above 0", getattr(self, name))
        if not 0 <= self.most_delta < 1:
            raise ParameterError("most_delta", "at least 0 and below 1", self.most_delta)
        for name in ("window", "shortest_interval", "token_delay"):
            value = getattr(self, name)  # a number such as NaN would pass the comparisons
            if not isinstance(value, timedelta) or value < timedelta(0):
                raise ParameterError(name, "0 or longer, a timedelta", value)
            if value > _LONGEST:
                raise ParameterError(name, "at most 100 years", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Facts from the ledger that the rules need."""

    public_key: str | None
    """First key seen of this service."""
    description: str | None = None
    """Digest of this campaign's description as seen before."""
    list_digest: str | None = None
    """Digest of this campaign's list as seen before."""
    spent: Fraction = Fraction()
    """ε of all rows in the window."""
    spent_delta: Fraction = Fraction()
    """δ of all contributions and relayed reports in the window."""
    spent_relay: Fraction = Fraction()
    """ε0 of all relayed reports in the window."""
    last_report: datetime | None = None
    """Time of the last report to this service, relayed or not."""
    standing: Mapping[Role, RowState] = field(default_factory=dict)
    """State of this campaign's rows, by role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """ε and δ that are debited for a report or a contribution."""

    epsilon: Fraction
    delta: Fraction
    relay_epsilon: Fraction = Fraction()
    """ε0 of a relayed report."""

    @classmethod
    def of_report(cls, head_list: HeadList) -> "Cost":
        """Return the tight pure ε of a list's channel, and the δ that the list names."""
        return cls(epsilon=report_cost(head_list), delta=exact(head_list.mechanism.delta))

    @classmethod
    def of_relayed(cls, head_list: HeadList) -> "Cost":
        """Return the (ε, δ) of a report in a batch, and its ε0: the tight pure ε by itself."""
        relayed = head_list.for_relay()
        return cls(
            epsilon=exact(relayed.mechanism.epsilon),
            delta=exact(relayed.mechanism.delta),
            relay_epsilon=report_cost(relayed),
        )

    @classmethod
    def of_contribution(cls, promise: CampaignPromise) -> "Cost":
        """Return the ε and δ that opt-in users are promised."""
        return cls(epsilon=promise.epsilon, delta=promise.delta)


def require_genuine(
    signed: SignedHeadList, campaign: UUID, policy: ClientPolicy, history: History
) -> None:
    """Refuse a list that is not this campaign's only public list.

    Args:
        signed: The list; its signature and log entry are already checked.
        campaign: The campaign of the requested list.
        policy: The limits of this device.
        history: The facts seen before.
    """
    if signed.campaign != campaign:
        raise RefusedError(Rule.CAMPAIGN, "the head list is that of another campaign")
    pinned = policy.public_key or history.public_key
    if pinned is not None and signed.public_key != pinned:
        sentence = "the head list is signed with another key than this service's"
        raise RefusedError(Rule.KEY, sentence)
    if history.list_digest is not None and signed.digest != history.list_digest:
        sentence = "the head list differs from the one that this campaign showed before"
        raise RefusedError(Rule.CHANGED, sentence)
    if not signed.head_list.private:
        sentence = "the list was made with a seed, for an experiment; no device may report to it"
        raise RefusedError(Rule.NOT_PRIVATE, sentence)
    if len(signed.head_list.queries) < policy.smallest_list:
        raise RefusedError(
            Rule.TOO_SMALL,
            f"the head list must have at least {policy.smallest_list} queries; "
            f"it has {len(signed.head_list.queries)}",
        )


def require_described(promise: CampaignPromise, campaign: UUID, history: History) -> None:
    """Refuse a description of another campaign, or one that changed since it was seen first."""
    if promise.campaign != campaign:
        raise RefusedError(Rule.PROMISE, "the description is that of another campaign")
    if history.description is not None and promise.digest != history.description:
        sentence = "the campaign's description differs from the one that it showed before"
        raise RefusedError(Rule.CHANGED, sentence)


def require_promised(signed: SignedHeadList, promise: CampaignPromise) -> None:
    """Refuse a list that asks for more than its campaign's description promises.

    Args:
        signed: The list; its signature is already checked.
        promise: The campaign's current description.
    """
    if promise.campaign != signed.campaign or promise.digest != signed.description:
        sentence = "the head list is bound to another description than the campaign shows"
        raise RefusedError(Rule.PROMISE, sentence)
    mechanism = signed.head_list.mechanism
    if exact(mechanism.epsilon) > promise.epsilon or exact(mechanism.delta) > promise.delta:
        sentence = "the head list asks for a larger ε or δ than the campaign promises"
        raise RefusedError(Rule.PROMISE, sentence)


def require_affordable(
    cost: Cost, policy: ClientPolicy, history: History, now: datetime, role: Role
) -> None:
    """Refuse a cost above the budget, or a report too soon after the last one.

    ε adds up over everything sent to all services. δ adds up over contributions and relayed
    reports: a local report is debited with a pure ε, and its δ is compared with the limit alone.
    ε0 of relayed reports has limits of its own (:mod:`blender_dp.client.reports.relay_rules`).
    """
    most, most_delta = exact(policy.most_epsilon), exact(policy.most_delta)
    asked = f"the campaign asks for ε = {float(cost.epsilon):g}"
    if cost.epsilon > most:
        sentence = f"{asked}; this device allows at most {policy.most_epsilon:g}"
        raise RefusedError(Rule.EPSILON, sentence)
    if cost.delta > most_delta:
        raise RefusedError(
            Rule.DELTA,
            f"the campaign asks for δ = {float(cost.delta):g}; "
            f"this device allows at most {policy.most_delta:g}",
        )
    if history.spent + cost.epsilon > most:
        raise RefusedError(
            Rule.BUDGET,
            f"{asked}; {float(max(most - history.spent, Fraction())):g} "
            f"of {policy.most_epsilon:g} is left in {days_of(policy.window)}",
        )
    if role != "report" and history.spent_delta + cost.delta > most_delta:
        what = "the δ of all contributions and relayed reports"
        sentence = f"{what} in {days_of(policy.window)} would exceed the cap"
        raise RefusedError(Rule.BUDGET, sentence)
    last = history.last_report
    is_report = role != "contribution"
    if is_report and last is not None and now - last < policy.shortest_interval:
        raise RefusedError(
            Rule.TOO_SOON,
            f"the last report to this service is less than {days_of(policy.shortest_interval)} old",
        )


def require_one_group(role: Role, history: History) -> None:
    """Refuse to be in two groups of a campaign.

    A contribution may have arrived even if its answer was lost or its upload refused; only a
    confirmed withdrawal takes it back. A report cannot be taken back, relayed or not.
    """
    is_report, other = role != "contribution", "report" if role == "relayed" else "relayed"
    if is_report and history.standing.get("contribution") not in (None, "withdrawn"):
        sentence = (
            "this device contributed to the campaign, or may have: "
            "it does not report as well, unless a withdrawal was confirmed"
        )
        raise RefusedError(Rule.ROLE, sentence)
    if is_report and other in history.standing:
        sentence = "this device reported to the campaign, and sends it no second report"
        raise RefusedError(Rule.ROLE, sentence)
    if role == "contribution" and history.standing.keys() & {"report", "relayed"}:
        sentence = "this device reported to the campaign, and does not contribute as well"
        raise RefusedError(Rule.ROLE, sentence)


def days_of(interval: timedelta) -> str:
    """Write an interval in days."""
    return f"{interval / timedelta(days=1):g} days"
