"""Device of one person: contributes or reports to a service, and refuses unsafe requests."""

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from blender_dp.client.campaign_checks import (
    FetchedList,
    fetch_campaign,
    fetch_list,
    read_public_log,
)
from blender_dp.client.ledger.ledger import Ledger, Seen
from blender_dp.client.ledger.rows import LedgerRow, costs_since
from blender_dp.client.opt_in import OptIn
from blender_dp.client.policy import (
    ClientPolicy,
    Cost,
    History,
    RefusedError,
    Rule,
    require_affordable,
    require_one_group,
)
from blender_dp.client.transport import (
    HttpTransport,
    ServiceRefusalError,
    Transport,
    UnreachableError,
    require_address,
)
from blender_dp.core.channels.report_cost import cost_text
from blender_dp.core.errors import BlenderError, InputError
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import exact
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.reports.service_report import ID_BYTES, service_report_document
from blender_dp.wire.service.signed_head_list import SignedHeadList

FINAL_ANSWERS = frozenset({400, 409, 410, 413, 415, 422})
"""Statuses after which a report is not sent again: the same bytes would be refused again.

404 is not final: a service that is being restored, or a front end with a wrong path, may send it
for a campaign that exists again later. Sending the same bytes again reveals nothing.
"""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _no_checkpoint(point: str) -> None:
    """Ignore ``point``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Reports and contributions of a device, and the budget that is left."""

    reports: tuple[LedgerRow, ...]
    contributions: tuple[LedgerRow, ...]
    spent: float
    """ε spent within the window, by reports and contributions to all services."""
    left: float


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
        transport: Transport | None = None,
        now: Callable[[], datetime] = _utc_now,
        checkpoint: Callable[[str], None] = _no_checkpoint,
    ) -> None:
        """Open the device's ledger and prepare to talk to a service.

        Args:
            url: The service's address, https:// unless it is on this machine.
            directory: Directory of the ledger; one for all services of a device.
            policy: Limits on what a service may request from this device.
            transport: Connection to the service, if not HTTP.
            now: The clock, in UTC.
            checkpoint: Called with the name of each point that is reached; for tests that stop
                there.
        """
        self._url = require_address(url)
        self._connections = ExitStack()
        self._transport: Transport = transport or self._connections.enter_context(
            HttpTransport(url)
        )
        self._ledger = Ledger(Path(directory), checkpoint)
        self._policy = policy or ClientPolicy()
        self._now, self._checkpoint = now, checkpoint
        self._opt_in = OptIn(
            url=self._url,
            transport=self._transport,
            ledger=self._ledger,
            policy=self._policy,
            now=now,
            checkpoint=checkpoint,
        )

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
        """Get the right to contribute, with a token from the operator or by open enrolment.

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
        fetched, seen = self._fetch_checked(campaign)

        def accept(history: History) -> Seen:
            fetched.require(campaign, self._policy, history)
            return seen

        since = self._now() - self._policy.window
        self._ledger.remember(campaign, self._url, since, accept)
        return fetched.signed

    def evidence(self, campaign: UUID) -> dict[str, Any] | None:
        """Return the signed list that this device was shown first, to compare with others."""
        return self._ledger.signed_list(campaign)

    def report(self, campaign: UUID, query: str | None, url: str | None) -> LedgerRow:
        """Report one record, randomised; pass (None, None) for a person without records.

        Privacy: the tight pure ε of the list's channel in the local model, once per campaign. A
        second call draws nothing: it sends the stored bytes, or returns at once if they arrived. A
        device that may have contributed to the campaign does not report to it.
        """
        kept = self._ledger.row(campaign, "report")
        if kept is None:
            fetched, seen = self._fetch_checked(campaign)
            fetched.require_open()
            cost, now = Cost.of_report(fetched.signed.head_list), self._now()

            def draw(history: History) -> tuple[LedgerRow, Seen]:
                require_one_group("report", history)
                fetched.require(campaign, self._policy, history)
                require_affordable(cost, self._policy, history, now, "report")
                body = _draw(fetched.signed.head_list, query, url)
                row = LedgerRow(
                    campaign=campaign,
                    service=self._url,
                    list_digest=fetched.signed.digest,
                    body=body,
                    epsilon=cost_text(cost.epsilon),
                    delta=str(cost.delta),
                    time=now.replace(microsecond=0),  # as the ledger writes it
                )
                return row, seen

            since = now - self._policy.window
            kept = self._ledger.record_once(campaign, "report", self._url, since, draw)
        return self._deliver(kept)

    def resend(self) -> tuple[LedgerRow, ...]:
        """Send again all reports that have not arrived at this service, with the same bytes.

        Every report is tried even if an earlier one failed: a campaign that is gone must not block
        the others. Then the first error is raised, if there was one.
        """
        reports = [row for row in self._ledger.rows() if row.role == "report"]
        waiting = [row for row in reports if (row.service, row.state) == (self._url, "unsent")]
        sent: list[LedgerRow] = []
        errors: list[BlenderError] = []
        for row in waiting:
            try:
                sent.append(self._deliver(row))
            except (ServiceRefusalError, UnreachableError, InputError) as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return tuple(sent)

    def forget(self) -> None:
        """Delete the bytes of all reports and all enrolments from this device.

        The costs, campaigns and roles stay; otherwise a campaign could get a second report. A
        contribution cannot be withdrawn afterwards; withdraw first.
        """
        self._ledger.forget()

    def ledger(self) -> Spending:
        """Return every report and contribution of this device, and the budget that is left."""
        rows = self._ledger.rows()
        spent, _ = costs_since(rows, self._now() - self._policy.window)
        left = max(exact(self._policy.most_epsilon) - spent, Fraction())
        return Spending(
            reports=tuple(row for row in rows if row.role == "report"),
            contributions=tuple(row for row in rows if row.role == "contribution"),
            spent=float(spent),
            left=float(left),
        )

    def _fetch_checked(self, campaign: UUID) -> tuple[FetchedList, Seen]:
        """Fetch a list; refuse it if it breaks a rule or is not in the public log."""
        fetched = fetch_list(self._transport, campaign)
        history = self._ledger.history(campaign, self._url, self._now() - self._policy.window)
        fetched.require(campaign, self._policy, history)
        signed = fetched.signed
        remembered = self._ledger.log_head(signed.public_key)
        return fetched, Seen(
            description=fetched.promise.digest,
            public_key=signed.public_key,
            list_digest=signed.digest,
            signed_list=fetched.document,
            log_head=read_public_log(self._transport, signed, remembered),
        )

    def _deliver(self, kept: LedgerRow) -> LedgerRow:
        if kept.state == "forgotten":
            raise RefusedError(Rule.ROLE, "this device deleted its report and draws no other one")
        if kept.state != "unsent":
            return kept
        self._ledger.count_unanswered(kept.campaign, 1)
        self._checkpoint("before-send")
        try:
            self._transport.send("POST", f"campaigns/{kept.campaign}/reports", body=kept.body)
        except ServiceRefusalError as refusal:
            if not refusal.after_silence:
                self._ledger.count_unanswered(kept.campaign, -1)
            if refusal.status in FINAL_ANSWERS:
                self._ledger.end_report(kept.campaign)
            raise
        self._checkpoint("after-send")
        self._ledger.set_state(kept.campaign, "report", "sent")
        self._checkpoint("after-acknowledgement")
        return replace(kept, state="sent")


def _draw(head_list: HeadList, query: str | None, url: str | None) -> bytes:
    report_id = os.urandom(ID_BYTES)
    report = LocalRandomizer(head_list, campaign_id=report_id).report(query, url)
    return canonical(service_report_document(head_list, report_id, report))
