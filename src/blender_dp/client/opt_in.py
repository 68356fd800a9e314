"""Opt-in side of a device: enrolment, contribution, withdrawal; one contribution per campaign."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from blender_dp.client.campaign_checks import fetch_campaign
from blender_dp.client.ledger.ledger import Ledger, Seen
from blender_dp.client.ledger.rows import Enrolment, LedgerRow
from blender_dp.client.policy import (
    ClientPolicy,
    Cost,
    History,
    RefusedError,
    Rule,
    require_affordable,
    require_described,
    require_one_group,
)
from blender_dp.client.transport import Transport
from blender_dp.core.channels.report_cost import cost_text
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import Record
from blender_dp.wire.service.campaign_promise import CampaignPromise, read_campaign_promise
from blender_dp.wire.service.contribution import (
    ConsentReceipt,
    Contribution,
    consent_digest,
    contribution_bytes,
)

_OPEN = "opt-in-open"
"""State in which contributions are accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptIn:
    """Actions of a device as an opt-in user of one service's campaigns."""

    url: str
    transport: Transport
    ledger: Ledger
    policy: ClientPolicy
    now: Callable[[], datetime]
    checkpoint: Callable[[str], None]

    def enrol(self, campaign: UUID, token: str | None) -> None:
        """Store a token, given or requested, unless there is one.

        A device that contributed and then forgot its token gets no new one: the person could
        contribute twice with it.
        """
        if self.ledger.enrolment(campaign) is not None:
            return
        if self.ledger.row(campaign, "contribution") is not None:
            sentence = "this device contributed to the campaign, or may have, and then forgot it"
            raise RefusedError(Rule.ROLE, sentence)
        if token is None:
            answer = self.transport.send("POST", f"campaigns/{campaign}/enrol", body=b"{}")
            token = answer.document("the enrolment").get("token")
        if not isinstance(token, str) or not token.isascii() or not token:
            raise BlenderError("the service gave no enrolment token")
        enrolled = Enrolment(
            campaign=campaign, service=self.url, token=token, given_at=None, state="enrolled"
        )
        self.ledger.keep_enrolment(enrolled)

    def contribute(self, campaign: UUID, records: tuple[Record, ...], agreed: str) -> None:
        """Debit a contribution, then send it; every call sends the same bytes."""
        now = self.now()
        self._enrolment(campaign)
        answer = fetch_campaign(self.transport, campaign)
        promise = read_campaign_promise(answer)
        if promise.consent_text != agreed:
            raise BlenderError("the person agreed to another text than this campaign asks for")
        self.ledger.consent(campaign, now)
        enrolment = self._enrolment(campaign)  # another process may have set the time
        body = _body(promise, records, enrolment.given_at or now)
        digest = hashlib.sha256(enrolment.token.encode() + b"\0" + body).digest()

        def debit(history: History) -> tuple[LedgerRow, Seen]:
            require_one_group("contribution", history)
            require_described(promise, campaign, history)
            if answer.get("state") != _OPEN:
                raise RefusedError(Rule.NOT_OPEN, "the campaign does not take contributions now")
            cost = Cost.of_contribution(promise)
            require_affordable(cost, self.policy, history, now, "contribution")
            return self._row(promise, now, digest), Seen(description=promise.digest)

        since = now - self.policy.window
        kept = self.ledger.record_once(campaign, "contribution", self.url, since, debit)
        if kept.state == "withdrawn" or kept.body not in (digest, b""):  # b"": of the first version
            sentence = "this device made another contribution to the campaign, or withdrew it"
            raise RefusedError(Rule.ROLE, sentence)
        self.checkpoint("before-send")
        path = f"campaigns/{campaign}/opt-in"
        self.transport.send("POST", path, body=body, token=enrolment.token)
        self.checkpoint("after-send")
        self.ledger.set_state(campaign, "contribution", "sent")
        self.ledger.set_enrolment_state(campaign, "contributed")

    def withdraw(self, campaign: UUID) -> None:
        """Request the deletion of a contribution; store it once the service confirmed it."""
        enrolment = self._enrolment(campaign)
        self.transport.send("DELETE", f"campaigns/{campaign}/opt-in", token=enrolment.token)
        self.ledger.set_state(campaign, "contribution", "withdrawn")
        self.ledger.set_enrolment_state(campaign, "withdrawn")

    def _enrolment(self, campaign: UUID) -> Enrolment:
        enrolment = self.ledger.enrolment(campaign)
        if enrolment is None:
            raise BlenderError("this device is not enrolled in the campaign; enrol first")
        if enrolment.state == "withdrawn":
            raise BlenderError("this device withdrew from the campaign and cannot contribute again")
        if enrolment.service not in ("", self.url):  # "": from the first version of the ledger
            # Another service could keep the records, or confirm a withdrawal that is not its own.
            raise BlenderError("this device is enrolled at another address; use that one")
        return enrolment

    def _row(self, promise: CampaignPromise, now: datetime, digest: bytes) -> LedgerRow:
        return LedgerRow(
            campaign=promise.campaign,
            role="contribution",
            service=self.url,
            epsilon=cost_text(promise.epsilon),
            delta=str(promise.delta),
            time=now.replace(microsecond=0),  # as the ledger writes it
            body=digest,
        )


def _body(promise: CampaignPromise, records: tuple[Record, ...], given_at: datetime) -> bytes:
    """Return the bytes of a contribution; check its rules before anything is sent."""
    consent = ConsentReceipt(
        version=promise.consent_version,
        text_digest=consent_digest(promise.consent_text),
        given_at=given_at,
    )
    return contribution_bytes(Contribution(consent=consent, records=records))
