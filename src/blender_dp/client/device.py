"""One person's device: what it contributes or reports to a service, and what it refuses to."""

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from blender_dp.client.ledger import Enrolment, KeptReport, Ledger, spent_since
from blender_dp.client.policy import (
    ClientPolicy,
    History,
    require_affordable,
    require_genuine,
    require_promised,
)
from blender_dp.client.transport import (
    HttpTransport,
    ServiceRefusalError,
    Transport,
    require_address,
)
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list import Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import exact
from blender_dp.wire.campaign_promise import CampaignPromise, read_campaign_promise
from blender_dp.wire.contribution import (
    ConsentReceipt,
    Contribution,
    consent_digest,
    contribution_document,
    read_contribution,
)
from blender_dp.wire.documents import canonical
from blender_dp.wire.service_report import ID_BYTES, service_report_document
from blender_dp.wire.signed_head_list import SignedHeadList, read_signed_head_list
from blender_dp.wire.times import written_time

FINAL_ANSWERS = frozenset({400, 409, 410, 413, 415, 422})
"""Statuses after which a report is not sent again: the same bytes would be refused again.

404 is not final: a service that is being restored, or a front end with a wrong path, answers it of
a campaign that is there again later, and sending the same bytes again reveals nothing.
"""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _pass_by(point: str) -> None:
    """Take no note of ``point``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a device has reported, and what it may still spend."""

    reports: tuple[KeptReport, ...]
    spent: float
    """ε within the window."""
    left: float


class BlenderClient:
    """A device of one person, towards one service.

    Everything that must survive a crash is in ``directory``; keep it as long as the device lives.
    A campaign gets one report, drawn once, whatever is called how often and from how many
    processes: later calls send the same bytes again, or say that they arrived.
    """

    def __init__(
        self,
        url: str,
        directory: Path | str,
        *,
        policy: ClientPolicy | None = None,
        transport: Transport | None = None,
        now: Callable[[], datetime] = _utc_now,
        checkpoint: Callable[[str], None] = _pass_by,
    ) -> None:
        """Open the device's ledger and prepare to talk to a service.

        Args:
            url: The service's address, https:// unless it is on this machine.
            directory: Where the ledger is kept; one for all services of a device.
            policy: What this device lets a service ask of it.
            transport: How to talk to the service, if not by HTTP.
            now: The clock, in UTC.
            checkpoint: Is told which point was reached; for tests that stop there.
        """
        self._url = require_address(url)
        self._connections = ExitStack()
        self._transport: Transport = transport or self._connections.enter_context(
            HttpTransport(url)
        )
        self._ledger = Ledger(Path(directory), checkpoint)
        self._policy = policy or ClientPolicy()
        self._now, self._checkpoint = now, checkpoint

    def close(self) -> None:
        """End the connections to the service; the ledger needs no closing."""
        self._connections.close()

    def __enter__(self) -> Self:
        """Use it within a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def promise(self, campaign: UUID) -> CampaignPromise:
        """Return what a campaign promises: the consent text, ε and δ of its description."""
        promise = read_campaign_promise(self.campaign(campaign))
        if promise.campaign != campaign:
            raise BlenderError("the service described another campaign than was asked for")
        return promise

    def campaign(self, campaign: UUID) -> dict[str, Any]:
        """Return what the service says of a campaign: purpose, state, consent, parameters."""
        return self._transport.send("GET", f"campaigns/{campaign}").document("the campaign")

    def enrol(self, campaign: UUID, token: str | None = None) -> None:
        """Get the right to contribute: with a token from the operator, or where anybody may.

        A device enrols once; a second call changes nothing.
        """
        if self._ledger.enrolment(campaign) is not None:
            return
        if token is None:
            answer = self._transport.send("POST", f"campaigns/{campaign}/enrol", body=b"{}")
            token = answer.document("the enrolment").get("token")
        if not isinstance(token, str) or not token.isascii() or not token:
            raise BlenderError("the service gave no enrolment token")
        self._ledger.keep_enrolment(
            Enrolment(campaign=campaign, token=token, given_at=None, state="enrolled")
        )

    def contribute(self, campaign: UUID, records: Iterable[Record], *, agreed: str) -> None:
        """Hand raw records to the curator, with the receipt of the person's consent.

        May be called again with the same records if it is not known whether it succeeded.

        Args:
            campaign: Which campaign.
            records: Everything this person contributes; none at all is a contribution too.
            agreed: The very text that the person agreed to; it must be the campaign's.
        """
        enrolment = self._enrolment(campaign)
        given_at = enrolment.given_at or self._now()
        consent = self._consent(campaign, agreed, given_at)
        document = contribution_document(Contribution(consent=consent, records=tuple(records)))
        read_contribution(document)  # its rules hold before anything leaves
        enrolment = replace(enrolment, given_at=given_at)
        self._ledger.keep_enrolment(enrolment)
        path = f"campaigns/{campaign}/opt-in"
        self._transport.send("POST", path, body=canonical(document), token=enrolment.token)
        self._ledger.keep_enrolment(replace(enrolment, state="contributed"))

    def withdraw(self, campaign: UUID) -> None:
        """Take a contribution back, for good; possible until the opt-in side is sealed."""
        enrolment = self._enrolment(campaign)
        self._transport.send("DELETE", f"campaigns/{campaign}/opt-in", token=enrolment.token)
        self._ledger.keep_enrolment(replace(enrolment, state="withdrawn"))

    def head_list(self, campaign: UUID) -> SignedHeadList:
        """Fetch a campaign's list, check it and remember it; nothing is spent."""
        signed, promise = self._fetched(campaign)

        def accept(history: History) -> tuple[str, str]:
            require_genuine(signed, campaign, self._policy, history)
            require_promised(signed, promise)
            return signed.public_key, signed.digest

        since = self._now() - self._policy.window
        self._ledger.remember(campaign, self._url, since, accept)
        return signed

    def report(self, campaign: UUID, query: str | None, url: str | None) -> KeptReport:
        """Report one record, randomised; (None, None) if the person has none.

        Privacy: ε of the list's mechanism in the local model, once a campaign. A second call
        draws nothing: it sends the bytes that were kept, or returns at once if they arrived.
        """
        kept = self._ledger.report(campaign)
        if kept is None:
            signed, promise = self._fetched(campaign)
            now = self._now()

            def draw(history: History) -> tuple[KeptReport, str]:
                require_genuine(signed, campaign, self._policy, history)
                require_promised(signed, promise)
                require_affordable(signed, self._policy, history, now)
                return self._drawn(signed, query, url, now), signed.public_key

            since = now - self._policy.window
            kept = self._ledger.record_once(campaign, self._url, since, draw)
        return self._delivered(kept)

    def resend(self) -> tuple[KeptReport, ...]:
        """Send what has not arrived at this service yet; the same bytes as before."""
        waiting = [kept for kept in self._ledger.reports() if kept.service == self._url]
        return tuple(self._delivered(kept) for kept in waiting if kept.state == "unsent")

    def ledger(self) -> Spending:
        """Return every report of this device and what is left of its budget."""
        reports = tuple(self._ledger.reports())
        costs = ((kept.epsilon, written_time(kept.time)) for kept in reports)
        spent = spent_since(costs, self._now() - self._policy.window)
        left = max(exact(self._policy.most_epsilon) - spent, Fraction())
        return Spending(reports=reports, spent=float(spent), left=float(left))

    def _fetched(self, campaign: UUID) -> tuple[SignedHeadList, CampaignPromise]:
        answer = self._transport.send("GET", f"campaigns/{campaign}/head-list")
        signed = read_signed_head_list(answer.document("the head list"))
        return signed, read_campaign_promise(self.campaign(campaign))

    def _drawn(
        self, signed: SignedHeadList, query: str | None, url: str | None, now: datetime
    ) -> KeptReport:
        report_id = os.urandom(ID_BYTES)
        report = LocalRandomizer(signed.head_list, campaign_id=report_id).report(query, url)
        document = service_report_document(signed.head_list, report_id, report)
        return KeptReport(
            campaign=signed.campaign,
            service=self._url,
            list_digest=signed.digest,
            body=canonical(document),
            epsilon=str(exact(signed.head_list.mechanism.epsilon)),
            time=now.replace(microsecond=0),  # as the ledger writes it
        )

    def _delivered(self, kept: KeptReport) -> KeptReport:
        if kept.state != "unsent":
            return kept
        self._checkpoint("before-send")
        try:
            self._transport.send("POST", f"campaigns/{kept.campaign}/reports", body=kept.body)
        except ServiceRefusalError as refusal:
            if refusal.status in FINAL_ANSWERS:
                self._ledger.set_state(kept.campaign, "refused")
            raise
        self._checkpoint("after-send")
        self._ledger.set_state(kept.campaign, "sent")
        self._checkpoint("after-acknowledgement")
        return replace(kept, state="sent")

    def _enrolment(self, campaign: UUID) -> Enrolment:
        enrolment = self._ledger.enrolment(campaign)
        if enrolment is None:
            raise BlenderError("this device is not enrolled in the campaign; enrol first")
        if enrolment.state == "withdrawn":
            raise BlenderError("this device withdrew from the campaign, which is for good")
        return enrolment

    def _consent(self, campaign: UUID, agreed: str, given_at: datetime) -> ConsentReceipt:
        promise = self.promise(campaign)
        if promise.consent_text != agreed:
            raise BlenderError("the person agreed to another text than this campaign asks for")
        return ConsentReceipt(
            version=promise.consent_version,
            text_digest=consent_digest(agreed),
            given_at=given_at,
        )
