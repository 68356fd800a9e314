"""Campaigns as requests and answers hold them, as the OpenAPI description shows them."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from blender_dp.core.parameters import Parameters, Preset, delta_warning
from blender_dp.service.campaign import OPTIONAL, Campaign, Consent, Reports, Rules, State
from blender_dp.service.campaign_relay import (
    DEFAULTS,
    MOST_BATCH,
    MOST_EPSILON_CAP,
    WAIT_HOURS,
    CampaignRelay,
)
from blender_dp.service.http.messages import (
    MOST_CLIENTS,
    MOST_EPSILON,
    Share,
    Taken,
    Version,
)
from blender_dp.service.shown_texts import require_line, require_text, require_web_address
from blender_dp.wire.service.contribution import consent_digest
from blender_dp.wire.tokens.issuer import Issuer

MOST_OPEN_HOURS = 24 * 366
_HOURS = "open_hours"
Time = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=1, le=MOST_CLIENTS)]
Line = Annotated[str, Meta(min_length=1, max_length=200)]
Noun = Annotated[str, Meta(min_length=1, max_length=40)]
Text = Annotated[str, Meta(min_length=1, max_length=10_000)]
WebAddress = Annotated[str, Meta(max_length=2000, pattern=r"^https?://[^\s/]\S*(?!\s)$")]


TokenKeyText = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{456}$")]


class ConsentText(Taken, frozen=True, kw_only=True):
    """Text that people agree to when they opt in."""

    version: Version
    text: Text


class Promise(Taken, frozen=True, kw_only=True):
    """ε, δ and the tuning parameters; a missing one has its documented default."""

    epsilon: Annotated[float, Meta(gt=0, le=MOST_EPSILON)]
    delta: Share
    head_list_size: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    preset: Preset = "sharp"
    one_record_each: bool = False
    head_list_user_fraction: Share = 0.95
    query_budget_fraction: Share = 0.85
    records_per_optin_user: Annotated[int, Meta(ge=1, le=1000)] = 1
    records_per_client: Literal[1] = 1
    project: bool = True

    def parameters(self) -> Parameters:
        """Return the parameters, checked together."""
        return Parameters(**msgspec.structs.asdict(self))


class When(Taken, frozen=True, kw_only=True):
    """When a campaign moves by itself; null waits for an operator."""

    opt_in_until: Time | None = None
    opt_in_enough: Count | None = None
    clients_from: Time | None = None
    clients_until: Time | None = None
    clients_enough: Count | None = None
    open_hours: Annotated[int, Meta(ge=0, le=MOST_OPEN_HOURS)] = 24
    """With open enrolment, reaching the number closes a side only after this many hours."""
    relay_wait_hours: Annotated[int, Meta(ge=0, le=MOST_OPEN_HOURS)] | None = None
    """With a relay, a release waits this many hours for its batch; null: 48."""

    def rules(self, relay: "RelayOfCampaign | None") -> Rules:
        """Return the rules of the campaign."""
        rules = Rules(**msgspec.structs.asdict(self))
        if relay is None or rules.relay_wait_hours is not None:
            return rules
        return replace(rules, relay_wait_hours=WAIT_HOURS)


class RelayOfCampaign(Taken, frozen=True, kw_only=True):
    """Relay of a campaign, run by somebody other than the collector."""

    address: WebAddress
    """Where devices send their reports: no user name, query or fragment."""
    public_key: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{43}$")]
    """The relay's Ed25519 key, 32 bytes in base64url without padding."""
    least_batch: Annotated[int, Meta(ge=1, le=MOST_BATCH)]
    """The relay passes on no smaller batch; the more reports, the more precise each may be."""
    epsilon_cap: Annotated[float, Meta(gt=0, le=MOST_EPSILON_CAP)] = DEFAULTS.epsilon_cap
    """The most that a report may reveal to relay and collector together."""
    dishonest: Annotated[float, Meta(ge=0, lt=1)] = DEFAULTS.dishonest
    """The share of a batch that may come from dishonest clients."""

    def relay(self) -> CampaignRelay:
        """Return the relay of the campaign; a slash at the end of its address may be left out."""
        values = msgspec.structs.asdict(self)
        return CampaignRelay(**values | {"address": self.address.removesuffix("/") + "/"})

    @classmethod
    def of(cls, relay: CampaignRelay | None) -> "RelayOfCampaign | None":
        """Return how a relay is shown."""
        return None if relay is None else cls(**asdict(relay))


class IssuerOfCampaign(Taken, frozen=True, kw_only=True):
    """Server that issues a campaign's report tokens, run by whoever can tell people apart."""

    address: WebAddress
    """Where devices ask for their token: no user name, query or fragment."""
    public_key: TokenKeyText
    """The key that signs the tokens of this campaign and of no other."""

    def issuer(self) -> Issuer:
        """Return the issuer; a slash at the end of its address may be left out."""
        return Issuer(address=self.address.removesuffix("/") + "/", public_key=self.public_key)

    @classmethod
    def of(cls, issuer: Issuer | None) -> "IssuerOfCampaign | None":
        """Return how an issuer is shown."""
        return None if issuer is None else cls(**asdict(issuer))


class NewCampaign(Taken, frozen=True, kw_only=True):
    """A campaign to create.

    Every text must have a letter and no invisible sign; purpose and consent may have line breaks.
    """

    name: Line
    purpose: Text
    controller: Line
    """The person or organisation that decides what the records are used for."""
    contact: Line
    """Where people ask the controller, such as an e-mail address."""
    privacy_policy: WebAddress
    """Web address of the controller's privacy policy, without a user name or a backslash."""
    query_name: Noun | None = None
    """What a query is called where results are shown, such as product."""
    url_name: Noun | None = None
    """What a URL is called there, such as state."""
    consent: ConsentText
    parameters: Promise
    expected_clients: Annotated[int, Meta(ge=0, le=MOST_CLIENTS)]
    relay: RelayOfCampaign | None = None
    """Who passes on the reports of relay clients; null if there are none."""
    known: UUID | None = None
    """An earlier campaign that is released: its records need not be discovered again."""
    reports: Reports = Reports.OPEN
    """Whether each report needs a token, which a person gets once."""
    issuer: IssuerOfCampaign | None = None
    """Another server that issues these tokens; null if this service does, for enrolments."""
    open_enrolment: bool = False
    rules: When = When()

    def campaign(self, campaign_id: UUID, now: datetime) -> Campaign:
        """Return the campaign as a draft; refuse unreadable texts and impossible rules."""
        self._require_readable()
        campaign = Campaign(
            id=campaign_id,
            name=self.name,
            purpose=self.purpose,
            **{name: getattr(self, name) for name in OPTIONAL},
            consent=Consent(version=self.consent.version, text=self.consent.text),
            parameters=self.parameters.parameters(),
            expected_clients=self.expected_clients,
            relay=None if self.relay is None else self.relay.relay(),
            known=self.known,
            reports=self.reports,
            issuer=None if self.issuer is None else self.issuer.issuer(),
            open_enrolment=self.open_enrolment,
            rules=self.rules.rules(self.relay),
            state=State.DRAFT,
            created_at=now,
            moved_at=now,
        )
        campaign.require_possible_rules(now)
        return campaign

    def _require_readable(self) -> None:
        for field in ("name", "controller", "contact", "query_name", "url_name"):
            if (text := getattr(self, field)) is not None:
                require_line(field, text)
        require_text("purpose", self.purpose)
        require_web_address("privacy_policy", self.privacy_policy)
        require_line("version", self.consent.version)
        require_text("text", self.consent.text)


class ShownConsent(msgspec.Struct, frozen=True, kw_only=True):
    """The consent with the digest by which receipts name its text."""

    version: str
    text: str
    text_digest: str


class ShownCampaign(msgspec.Struct, frozen=True, kw_only=True):
    """The public view of a campaign."""

    id: UUID
    name: str
    purpose: str
    controller: str | None
    """Null, as the next two, in campaigns that are older than these fields."""
    contact: str | None
    privacy_policy: str | None
    query_name: str | None = None
    """What a query is called; null if it has no name of its own."""
    url_name: str | None = None
    state: State
    parameters: dict[str, Any]
    consent: ShownConsent
    expected_clients: int
    relay: RelayOfCampaign | None = None
    """Who passes on the reports of relay clients; null if there are none."""
    known: UUID | None = None
    """The earlier campaign whose released records are known; null if nothing is."""
    reports: Reports = Reports.OPEN
    """Whether each report needs a token."""
    issuer: IssuerOfCampaign | None = None
    """Another server that issues these tokens; null if this service does, or nobody."""
    open_enrolment: bool
    rules: When
    created_at: datetime
    moved_at: datetime
    description: dict[str, Any] | None = None
    """Properties that no move changes, fractional numbers as texts; null in lists of campaigns.
    Signed head lists and the public log name the digest of this object.
    """
    certificate: dict[str, Any] | None = None
    """Exact privacy cost of the plan for opt-in users; null in lists of campaigns."""
    warnings: list[str] = []
    """Sentences about choices that an operator should reconsider before opening the campaign."""

    @classmethod
    def of(
        cls,
        campaign: Campaign,
        description: Mapping[str, Any] | None = None,
        certificate: Mapping[str, Any] | None = None,
    ) -> "ShownCampaign":
        """Return how a campaign is shown."""
        consent, rules = campaign.consent, campaign.rules
        users = campaign.expected_clients + (rules.opt_in_enough or 0)
        warning = delta_warning(campaign.parameters.delta, users)
        return cls(
            id=campaign.id,
            name=campaign.name,
            purpose=campaign.purpose,
            **{name: getattr(campaign, name) for name in OPTIONAL},
            state=campaign.state,
            parameters=campaign.parameters.document(),
            consent=ShownConsent(
                version=consent.version,
                text=consent.text,
                text_digest=consent_digest(consent.text),
            ),
            expected_clients=campaign.expected_clients,
            relay=RelayOfCampaign.of(campaign.relay),
            known=campaign.known,
            reports=campaign.reports,
            issuer=IssuerOfCampaign.of(campaign.issuer),
            open_enrolment=campaign.open_enrolment,
            rules=When(
                **{name: getattr(rules, name) for name in When.__struct_fields__ if name != _HOURS},
                open_hours=rules.open_hours or 0,
            ),
            created_at=campaign.created_at,
            moved_at=campaign.moved_at,
            description=None if description is None else dict(description),
            certificate=None if certificate is None else dict(certificate),
            warnings=[] if warning is None else [warning],
        )


class ShownCampaigns(msgspec.Struct, frozen=True, kw_only=True):
    """Campaigns, newest first."""

    campaigns: list[ShownCampaign]
