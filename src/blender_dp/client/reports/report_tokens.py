"""Report tokens of a device: asked for once per campaign, kept, and sent inside the report."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from blender_dp.client.campaign_checks import FetchedList
from blender_dp.client.ledger.ledger import Ledger
from blender_dp.client.ledger.rows import KeptToken
from blender_dp.client.policy import ClientPolicy, RefusedError, Rule
from blender_dp.client.transport import DeviceTransport, Transport, require_address
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.service.campaign_promise import CampaignPromise
from blender_dp.wire.tokens.blind_rsa import BlindSignatureError
from blender_dp.wire.tokens.report_token import (
    RESPONSE_BYTES,
    TokenRules,
    TokenSecret,
    token_rules,
)

_ISSUING = ("list-published", "clients-open")
"""States in which tokens are issued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTokens:
    """The tokens of one device, from one service's enrolments or from other issuers."""

    url: str
    transport: DeviceTransport
    ledger: Ledger
    policy: ClientPolicy
    now: Callable[[], datetime]
    checkpoint: Callable[[str], None]

    def fetch(self, fetched: FetchedList, credential: str | None = None) -> KeptToken | None:
        """Return the token for a list, asked for if there is none; None if the list needs none.

        The list must be checked and remembered: the token is for its key. A request is kept before
        it is sent, and the same one is sent again after a lost answer.

        Args:
            fetched: The campaign's list and description.
            credential: For another issuer: what its login gave this person.
        """
        rules = token_rules(fetched.signed.head_list, fetched.signed.campaign)
        if rules is None:
            return None
        kept = self.ledger.token(rules.campaign)
        if kept is not None and kept.token is not None:
            return kept
        issuer = self._issuer(fetched.promise)
        asking = self._credential(fetched.promise, credential)
        if kept is None:
            if fetched.state not in _ISSUING:
                raise RefusedError(Rule.NOT_OPEN, "the campaign does not issue tokens now")
            kept = self.ledger.begin_token(rules.campaign, lambda: self._begin(rules))
        self.checkpoint("before-token")
        token = _ask(rules, TokenSecret.from_bytes(kept.secret), issuer, asking)
        self.checkpoint("after-token")
        after = self.now() + _delay(self.policy, fetched.promise, self.now())
        return self.ledger.keep_token(rules.campaign, token, after)

    def is_early(self, campaign: UUID) -> bool:
        """Tell whether a report with the campaign's token must wait."""
        kept = self.ledger.token(campaign)
        return kept is not None and self.now() < kept.report_after

    def _begin(self, rules: TokenRules) -> KeptToken:
        """Return a new request; when the report is sent is drawn after its answer.

        Otherwise an issuer that answers late would see the report follow its answer.
        """
        secret = TokenSecret.draw(rules.key).to_bytes()
        return KeptToken(secret=secret, report_after=self.now(), token=None)

    def _issuer(self, promise: CampaignPromise) -> Transport:
        if promise.issuer is None:
            return self.transport
        try:
            return self.transport.toward(require_address(promise.issuer.address))
        except ParameterError:
            sentence = "the issuer's address must be https, or http on this machine"
            raise RefusedError(Rule.TOKEN, sentence) from None

    def _credential(self, promise: CampaignPromise, credential: str | None) -> str:
        if promise.issuer is not None:
            if credential is None:
                raise BlenderError(
                    "the campaign's tokens come from another server: "
                    "fetch one with what its login gave this person"
                )
            return credential
        enrolment = self.ledger.enrolment(promise.campaign)
        if enrolment is None or enrolment.service not in ("", self.url):
            raise BlenderError("this device is not enrolled in the campaign; enrol first")
        return enrolment.token


def _ask(rules: TokenRules, secret: TokenSecret, issuer: Transport, credential: str) -> bytes:
    path = f"campaigns/{rules.campaign}/report-token"
    try:
        body = canonical({"version": 1, "request": to_text(rules.request(secret))})
    except BlindSignatureError as error:
        raise RefusedError(Rule.TOKEN, str(error)) from None
    answer = issuer.send("POST", path, body=body, token=credential).document("the token")
    text = answer.get("response")
    response = from_text(text, RESPONSE_BYTES) if isinstance(text, str) and text.isascii() else None
    try:
        return rules.token(secret, response or b"")
    except BlindSignatureError as error:
        raise RefusedError(Rule.TOKEN, str(error)) from None


def _delay(policy: ClientPolicy, promise: CampaignPromise, now: datetime) -> timedelta:
    """Draw how long a report waits: uniform up to the policy's delay or half of the time left."""
    longest = policy.token_delay
    if promise.clients_until is not None:
        longest = min(longest, max((promise.clients_until - now) / 2, timedelta()))
    milliseconds = longest // timedelta(milliseconds=1)
    return timedelta(milliseconds=int.from_bytes(os.urandom(8)) * milliseconds >> 64)
