"""Device of one person: contributes or reports to a service, and refuses unsafe requests."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from blender_dp.client.campaign_checks import fetch_campaign
from blender_dp.client.ledger.ledger import Ledger, Seen
from blender_dp.client.ledger.rows import LedgerRow, costs_since, relay_cost_since
from blender_dp.client.opt_in import OptIn
from blender_dp.client.policy import ClientPolicy, History
from blender_dp.client.reports.report_tokens import ReportTokens
from blender_dp.client.reports.reporting import Reporting
from blender_dp.client.transport import DeviceTransport, HttpTransport, require_address
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.parameters import exact
from blender_dp.wire.service.signed_head_list import SignedHeadList


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _no_checkpoint(point: str) -> None:
    """Ignore ``point``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Reports and contributions of a device, and the budget that is left."""

    reports: tuple[LedgerRow, ...]
    """Reports to services."""
    relayed: tuple[LedgerRow, ...]
    """Reports through relays."""
    contributions: tuple[LedgerRow, ...]
    spent: float
    """ε spent within the window, by everything sent to all services."""
    left: float
    relay_spent: float
    """ε0 spent within the window: what relays and collectors together could have learnt."""
    relay_left: float


class BlenderClient:
    """Device of one person, connected to one service.

    Everything that must survive a crash is in ``directory``; keep it as long as the device exists.
    A campaign gets one report, drawn once, or one contribution, no matter how often or from how
    many processes the methods are called. Later calls send the same bytes again, or return that
    they arrived.
    """

    def __init__(
        self,
        url: str,
        directory: Path | str,
        *,
        policy: ClientPolicy | None = None,
        transport: DeviceTransport | None = None,
        now: Callable[[], datetime] = _utc_now,
        checkpoint: Callable[[str], None] = _no_checkpoint,
    ) -> None:
        """Open the device's ledger and prepare to talk to a service.

        Args:
            url: The service's address, https:// unless it is on this machine.
            directory: Directory of the ledger; one for all services of a device.
            policy: Limits on what a service may request from this device.
            transport: Connection to the service and to relays, if not HTTP.
            now: The clock, in UTC.
            checkpoint: Called with the name of each point that is reached; for tests that stop
                there.
        """
        self._url = require_address(url)
        self._connections = ExitStack()
        self._transport: DeviceTransport = transport or self._connections.enter_context(
            HttpTransport(url)
        )
        self._ledger = Ledger(Path(directory), checkpoint)
        self._policy = policy or ClientPolicy()
        self._now = now
        shared: dict[str, Any] = {
            "url": self._url,
            "transport": self._transport,
            "ledger": self._ledger,
            "policy": self._policy,
            "now": now,
            "checkpoint": checkpoint,
        }
        self._opt_in = OptIn(**shared)
        self._reporting = Reporting(**shared, tokens=ReportTokens(**shared))

    def close(self) -> None:
        """Close the connections to the service; the ledger needs no closing."""
        self._connections.close()

    def __enter__(self) -> Self:
        """Use it within a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def campaign(self, campaign: UUID) -> dict[str, Any]:
        """Return the service's description of a campaign: purpose, state, consent, parameters."""
        return fetch_campaign(self._transport, campaign)

    def enrol(self, campaign: UUID, token: str | None = None) -> None:
        """Enrol to contribute or to get a report token, with the operator's token or by oneself.

        A device enrols once; a second call changes nothing.
        """
        self._opt_in.enrol(campaign, token)

    def contribute(self, campaign: UUID, records: Iterable[Record], *, agreed: str) -> None:
        """Hand raw records to the curator, with the receipt of the person's consent.

        May be called again with the same records if it is not known whether it succeeded.

        Privacy: ε and δ of the campaign's parameters in the central model, debited before anything
        is sent. A device that reported to the campaign does not contribute to it.

        Args:
            campaign: Id of the campaign.
            records: All records that this person contributes; an empty list is allowed.
            agreed: The exact text that the person agreed to; it must be the campaign's.
        """
        self._opt_in.contribute(campaign, tuple(records), agreed)

    def withdraw(self, campaign: UUID) -> None:
        """Withdraw a contribution for good; possible until the opt-in side is closed.

        Once the service confirmed it, the device may report. The debited ε and δ are not returned.
        """
        self._opt_in.withdraw(campaign)

    def head_list(self, campaign: UUID) -> SignedHeadList:
        """Fetch a campaign's list, check it and remember it; nothing is spent."""
        fetched, seen = self._reporting.fetch_checked(campaign)

        def accept(history: History) -> Seen:
            fetched.require(campaign, self._policy, history)
            return seen

        since = self._now() - self._policy.window
        self._ledger.remember(campaign, self._url, since, accept)
        return fetched.signed

    def evidence(self, campaign: UUID) -> dict[str, Any] | None:
        """Return the signed list that this device was shown first, to compare with others."""
        return self._ledger.signed_list(campaign)

    def fetch_token(self, campaign: UUID, credential: str | None = None) -> datetime | None:
        """Fetch the token of this person's report; return from when on the report may be sent.

        Nothing to do, and None, if the campaign's reports need no token. Fetch it as soon as the
        list is published. The report is sent after a random time, so that the issuer cannot
        recognise it: ``report`` draws and keeps it, and ``resend`` sends it when it is time.

        Args:
            campaign: Id of the campaign.
            credential: What the login of another issuer gave this person; at the service itself
                the enrolment is enough.
        """
        kept = self._reporting.fetch_token(campaign, credential)
        return None if kept is None else kept.report_after

    def report(
        self, campaign: UUID, query: str | None, url: str | None, *, through_relay: bool = False
    ) -> LedgerRow:
        """Report one record, randomised; pass (None, None) for a person without records.

        A second call draws nothing: it sends the stored bytes, or returns at once if they arrived.
        A device that may have contributed to the campaign does not report to it. If reports need a
        token, it is fetched, and the report is kept until its time has come (``fetch_token``).

        Privacy, once per campaign: the tight pure ε of the list's channel in the local model.
        Through a relay: (ε, δ) as long as the relay does not work together with the collector; ε0
        if they do.

        Args:
            campaign: Id of the campaign.
            query: The query of the record.
            url: The URL of the record.
            through_relay: Whether the report goes to the campaign's relay, encrypted for the
                collector. Decide it before looking at the record.
        """
        record = None if query is None or url is None else Record(query, url)
        if through_relay:
            return self._reporting.report_through_relay(campaign, record)
        return self._reporting.report(campaign, record)

    def resend(self) -> tuple[LedgerRow, ...]:
        """Send again all reports that have not arrived at this service, with the same bytes.

        Every report is tried even if an earlier one failed: a campaign that is gone must not block
        the others. Then the first error is raised, if there was one.
        """
        return self._reporting.resend()

    def forget(self) -> None:
        """Delete the bytes of all reports, all tokens and all enrolments from this device.

        The costs, campaigns and roles stay; otherwise a campaign could get a second report. A
        contribution cannot be withdrawn afterwards; withdraw first.
        """
        self._ledger.forget()

    def ledger(self) -> Spending:
        """Return every report and contribution of this device, and the budget that is left."""
        rows, since = self._ledger.rows(), self._now() - self._policy.window
        (spent, _), relay_spent = costs_since(rows, since), relay_cost_since(rows, since)
        left = max(exact(self._policy.most_epsilon) - spent, Fraction())
        relay_left = max(exact(self._policy.most_relay_total) - relay_spent, Fraction())
        return Spending(
            reports=tuple(row for row in rows if row.role == "report"),
            relayed=tuple(row for row in rows if row.role == "relayed"),
            contributions=tuple(row for row in rows if row.role == "contribution"),
            spent=float(spent),
            left=float(left),
            relay_spent=float(relay_spent),
            relay_left=float(relay_left),
        )
