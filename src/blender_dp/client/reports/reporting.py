"""Client side of a device: one report per campaign, sent to the service or through a relay."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from blender_dp.client.campaign_checks import FetchedList, fetch_list, read_public_log
from blender_dp.client.ledger.ledger import Ledger, Seen
from blender_dp.client.ledger.rows import KeptToken, LedgerRow, Role
from blender_dp.client.policy import (
    ClientPolicy,
    Cost,
    History,
    RefusedError,
    Rule,
    require_affordable,
    require_one_group,
)
from blender_dp.client.reports.relay_rules import require_relay, require_relay_budget
from blender_dp.client.reports.report_tokens import ReportTokens
from blender_dp.client.transport import DeviceTransport, ServiceRefusalError, UnreachableError
from blender_dp.core.channels.report_cost import cost_text
from blender_dp.core.errors import BlenderError, InputError
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.relayed.encrypted_report import (
    RelayedReport,
    ReportEncryption,
    relayed_report_document,
)
from blender_dp.wire.relayed.listed_relay import ListedRelay
from blender_dp.wire.reports.service_report import ID_BYTES, report_id_of, service_report_document
from blender_dp.wire.service.signed_head_list import SignedHeadList

FINAL_ANSWERS = frozenset({400, 409, 410, 413, 415, 422})
"""Statuses after which a report is not sent again: the same bytes would be refused again.

404 is not final: a service that is being restored, or a front end with a wrong path, may send it
for a campaign that exists again later. Sending the same bytes again reveals nothing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """Actions of a device as a client, local or behind a relay, of one service's campaigns."""

    url: str
    transport: DeviceTransport
    ledger: Ledger
    policy: ClientPolicy
    now: Callable[[], datetime]
    checkpoint: Callable[[str], None]
    tokens: ReportTokens

    def report(self, campaign: UUID, record: Record | None) -> LedgerRow:
        """Draw and store a local report, unless there is one, and send it to the service."""
        kept = self.ledger.row(campaign, "report")
        if kept is None:
            fetched, seen = self.fetch_checked(campaign)
            fetched.require_open()
            cost = Cost.of_report(fetched.signed.head_list)
            token = self._token("report", fetched, seen)

            def draw() -> bytes:
                return _draw(fetched, record, token)

            kept = self._draw_once("report", fetched, seen, cost, draw)
        return self._deliver(kept)

    def report_through_relay(self, campaign: UUID, record: Record | None) -> LedgerRow:
        """Draw, encrypt and store a relayed report, unless there is one, and send it to the relay.

        Every call sends the stored ciphertext: the relay counts equal ciphertexts once.
        """
        kept = self.ledger.row(campaign, "relayed")
        if kept is None:
            fetched, seen = self.fetch_checked(campaign)
            fetched.require_open()
            relay = require_relay(fetched.signed)
            cost = Cost.of_relayed(fetched.signed.head_list)
            token = self._token("relayed", fetched, seen)

            def draw() -> bytes:
                return _draw_relayed(fetched.signed, relay, record, token)

            kept = self._draw_once("relayed", fetched, seen, cost, draw)
        return self._deliver(kept)

    def resend(self) -> tuple[LedgerRow, ...]:
        """Send again every report that has not arrived; then raise the first error, if any."""
        reports = [row for row in self.ledger.rows() if row.role != "contribution"]
        unsent = [row for row in reports if (row.service, row.state) == (self.url, "unsent")]
        waiting = [row for row in unsent if not self.tokens.is_early(row.campaign)]
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

    def fetch_checked(self, campaign: UUID) -> tuple[FetchedList, Seen]:
        """Fetch a list; refuse it if it breaks a rule or is not in the public log."""
        fetched = fetch_list(self.transport, campaign)
        history = self.ledger.history(campaign, self.url, self.now() - self.policy.window)
        fetched.require(campaign, self.policy, history)
        signed = fetched.signed
        remembered = self.ledger.log_head(signed.public_key)
        return fetched, Seen(
            description=fetched.promise.digest,
            public_key=signed.public_key,
            list_digest=signed.digest,
            signed_list=fetched.document,
            log_head=read_public_log(self.transport, signed, remembered),
        )

    def fetch_token(self, campaign: UUID, credential: str | None) -> KeptToken | None:
        """Fetch the token of a campaign's report; None if the campaign needs none."""
        kept = self.ledger.token(campaign)
        if kept is not None and kept.token is not None:
            return kept
        fetched, seen = self.fetch_checked(campaign)
        return self._fetch_token("report", fetched, seen, credential)

    def _token(self, role: Role, fetched: FetchedList, seen: Seen) -> bytes | None:
        kept = self._fetch_token(role, fetched, seen, None)
        return None if kept is None else kept.token

    def _fetch_token(
        self, role: Role, fetched: FetchedList, seen: Seen, credential: str | None
    ) -> KeptToken | None:
        """Fetch a token for a list that is remembered, for a person who may report."""
        campaign = fetched.signed.campaign
        if fetched.signed.head_list.token_key is None:
            return None

        def accept(history: History) -> Seen:
            require_one_group(role, history)
            fetched.require(campaign, self.policy, history)
            return seen

        since = self.now() - self.policy.window
        self.ledger.remember(campaign, self.url, since, accept)
        return self.tokens.fetch(fetched, credential)

    def _draw_once(
        self, role: Role, fetched: FetchedList, seen: Seen, cost: Cost, draw: Callable[[], bytes]
    ) -> LedgerRow:
        """Return the row of a report; debit and draw it now if there is none."""
        signed, now = fetched.signed, self.now()

        def make(history: History) -> tuple[LedgerRow, Seen]:
            require_one_group(role, history)
            fetched.require(signed.campaign, self.policy, history)
            require_affordable(cost, self.policy, history, now, role)
            require_relay_budget(cost, self.policy, history)
            row = LedgerRow(
                campaign=signed.campaign,
                role=role,
                service=self.url,
                list_digest=signed.digest,
                body=draw(),
                epsilon=cost_text(cost.epsilon),
                delta=str(cost.delta),
                relay_epsilon=cost_text(cost.relay_epsilon),
                relay=signed.relay.address if signed.relay and role == "relayed" else None,
                time=now.replace(microsecond=0),  # as the ledger writes it
            )
            return row, seen

        since = now - self.policy.window
        return self.ledger.record_once(signed.campaign, role, self.url, since, make)

    def _deliver(self, kept: LedgerRow) -> LedgerRow:
        if kept.state == "forgotten":
            raise RefusedError(Rule.ROLE, "this device deleted its report and draws no other one")
        if kept.state != "unsent" or self.tokens.is_early(kept.campaign):
            return kept
        transport = self.transport if kept.relay is None else self.transport.toward(kept.relay)
        self.ledger.count_unanswered(kept.campaign, kept.role, 1)
        self.checkpoint("before-send")
        try:
            transport.send("POST", f"campaigns/{kept.campaign}/reports", body=kept.body)
        except ServiceRefusalError as refusal:
            if not refusal.after_silence:
                self.ledger.count_unanswered(kept.campaign, kept.role, -1)
            if refusal.status in FINAL_ANSWERS:
                self.ledger.end_report(kept.campaign, kept.role)
            raise
        self.checkpoint("after-send")
        self.ledger.set_state(kept.campaign, kept.role, "sent")
        self.checkpoint("after-acknowledgement")
        return replace(kept, state="sent")


def _draw(fetched: FetchedList, record: Record | None, token: bytes | None) -> bytes:
    head_list = fetched.signed.head_list
    report_id = os.urandom(ID_BYTES) if token is None else report_id_of(token)
    report = LocalRandomizer(head_list, campaign_id=report_id).report(*record or (None, None))
    return canonical(service_report_document(head_list, token or report_id, report))


def _draw_relayed(
    signed: SignedHeadList, relay: ListedRelay, record: Record | None, token: bytes | None
) -> bytes:
    """Randomise a record with ε0 and encrypt the result for the collector."""
    randomizer = LocalRandomizer(signed.head_list.for_relay())
    [cell] = randomizer.report(*record or (None, None)).items
    encryption = ReportEncryption(signed.head_list, campaign=signed.campaign, digest=signed.digest)
    if token is None:
        report = RelayedReport(report_id=os.urandom(ID_BYTES), cell=cell)
    else:
        report = RelayedReport.with_token(token, cell)
    encrypted = encryption.encrypt(report, relay.encryption_key)
    return canonical(relayed_report_document(signed.digest, relay.encryption_key, encrypted))
