"""Campaigns and their moves, which go forward only; no database is used here.

::

    draft → opt-in-open → opt-in-sealed → list-published → clients-open → clients-sealed
                                                                → released → purged

A campaign can be purged from every state, which ends it. Two moves are made by jobs only, because
they need results: publishing the list and releasing.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from blender_dp.core.blender import PRESETS
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.wire.tokens.issuer import Issuer


class State(StrEnum):
    """State of a campaign."""

    DRAFT = "draft"
    OPT_IN_OPEN = "opt-in-open"
    OPT_IN_SEALED = "opt-in-sealed"
    LIST_PUBLISHED = "list-published"
    CLIENTS_OPEN = "clients-open"
    CLIENTS_SEALED = "clients-sealed"
    RELEASED = "released"
    PURGED = "purged"


class Move(StrEnum):
    """Step of a campaign to its next state."""

    OPEN_OPT_IN = "open-opt-in"
    SEAL_OPT_IN = "seal-opt-in"
    PUBLISH_LIST = "publish-list"
    OPEN_CLIENTS = "open-clients"
    SEAL_CLIENTS = "seal-clients"
    RELEASE = "release"
    PURGE = "purge"


class Reports(StrEnum):
    """Who may send reports to a campaign."""

    OPEN = "open"
    """Anybody, as often as they like: report ids are made up by devices."""
    TOKEN = "token"  # noqa: S105 - a choice, no secret
    """Who has a report token, once."""


class JobKind(StrEnum):
    """Work that a campaign waits for."""

    HEAD_LIST = "head-list"
    """Computes the list from the opt-in users' records, publishes it and deletes the records."""
    ERASE = "erase"
    """Destroys the campaign's keys and the remains of deleted rows in storage."""
    RELEASE = "release"
    """Computes the blended result from the counts of the reports."""

    def is_needed_in(self, state: State) -> bool:
        """Tell whether a campaign in this state needs the job; a purged one needs erasure only."""
        return self is JobKind.ERASE or state is not State.PURGED


_STEPS = {
    Move.OPEN_OPT_IN: (State.DRAFT, State.OPT_IN_OPEN),
    Move.SEAL_OPT_IN: (State.OPT_IN_OPEN, State.OPT_IN_SEALED),
    Move.PUBLISH_LIST: (State.OPT_IN_SEALED, State.LIST_PUBLISHED),
    Move.OPEN_CLIENTS: (State.LIST_PUBLISHED, State.CLIENTS_OPEN),
    Move.SEAL_CLIENTS: (State.CLIENTS_OPEN, State.CLIENTS_SEALED),
    Move.RELEASE: (State.CLIENTS_SEALED, State.RELEASED),
}
MADE_BY_JOBS = frozenset({Move.PUBLISH_LIST, Move.RELEASE})
"""Moves that only jobs make, never an operator."""
_JOB_AFTER = {
    Move.SEAL_OPT_IN: JobKind.HEAD_LIST,
    Move.PUBLISH_LIST: JobKind.ERASE,
    Move.SEAL_CLIENTS: JobKind.RELEASE,
    Move.RELEASE: JobKind.ERASE,
    Move.PURGE: JobKind.ERASE,
}


_ENROLLING = frozenset({State.DRAFT, State.OPT_IN_OPEN})
TOKENS_ISSUED = frozenset({State.LIST_PUBLISHED, State.CLIENTS_OPEN})
"""States in which report tokens are issued: their key is in the published list."""


class MoveNotAllowedError(BlenderError):
    """The campaign's state does not allow this move."""

    def __init__(self, move: Move, state: State) -> None:
        self.move, self.state = move, state
        super().__init__(f"{move} must come from {_origin(move)}; the campaign is {state}")


def _origin(move: Move) -> str:
    return _STEPS[move][0] if move in _STEPS else "any state but purged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Text that people agree to when they opt in."""

    version: str
    text: str


COLLECTOR = ("controller", "contact", "privacy_policy")
"""The fields that say who collects; campaigns that are older than these fields have none."""
OPTIONAL = (*COLLECTOR, "query_name", "url_name")
"""The fields that a description has only if they are set; the last two are a campaign's nouns."""
DEADLINES = ("opt_in_until", "clients_from", "clients_until")
"""Rules that are points in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When a campaign moves by itself; None waits for an operator."""

    opt_in_until: datetime | None = None
    opt_in_enough: int | None = None
    """Number of contributions at which the opt-in side is sealed."""
    clients_from: datetime | None = None
    clients_until: datetime | None = None
    clients_enough: int | None = None
    """Number of reports at which the clients' side is sealed."""
    open_hours: int | None = 24
    """If anybody may send, reaching the number closes a side only after it was open for this many
    hours. Otherwise one sender could reach the number at once and close the side for all others.
    None in campaigns that are older than this rule."""
    relay_wait_hours: int | None = None
    """A release waits this many hours for the relay's batch; None without a relay."""

    def __post_init__(self) -> None:
        for name in ("open_hours", "relay_wait_hours"):
            hours = getattr(self, name)
            if hours is not None and hours < 0:
                raise ParameterError(name, "0 or more", hours)
        for name in ("opt_in_enough", "clients_enough"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(name, "1 or more", value)
        for name in DEADLINES:
            _require_time_in_utc(name, getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One collection, from consent to release."""

    id: UUID
    name: str
    purpose: str
    controller: str | None
    """The person or organisation that decides what the records are used for."""
    contact: str | None
    """Where people ask the controller, such as an e-mail address."""
    privacy_policy: str | None
    """Web address of the controller's privacy policy."""
    query_name: str | None = None
    """What a query is called where results are shown, such as product; None: query."""
    url_name: str | None = None
    """What a URL is called there, such as state; None: URL."""
    consent: Consent
    parameters: Parameters
    expected_clients: int
    """Expected number of clients, public; decides how many of them report only the query."""
    relay: CampaignRelay | None = None
    """Who passes on the reports of relay clients; None if there are none."""
    known: UUID | None = None
    """The earlier campaign whose released records are known; None if nothing is."""
    reports: Reports = Reports.OPEN
    """Whether a report needs a token."""
    issuer: Issuer | None = None
    """Another server that issues the tokens; None if this service does, or if there are none."""
    open_enrolment: bool
    """Whether anybody may enrol, or only those whom the operator gives a token."""
    rules: Rules
    state: State
    created_at: datetime
    moved_at: datetime

    def __post_init__(self) -> None:
        if self.expected_clients < 0:
            raise ParameterError("expected_clients", "0 or more", self.expected_clients)
        if (self.relay is None) != (self.rules.relay_wait_hours is None):
            rule = "given with a relay, and only then"
            raise ParameterError("relay_wait_hours", rule, self.rules.relay_wait_hours)
        if self.relay is not None:
            self.relay.require_possible(self.parameters)
        if self.known is not None and not PRESETS[self.parameters.preset].takes_known_list:
            raise ParameterError("known", f"left out with {self.parameters.preset}", self.known)
        if self.issuer is not None and self.reports is not Reports.TOKEN:
            raise ParameterError("issuer", "given only if reports need a token", self.issuer)

    @property
    def issues_tokens(self) -> bool:
        """Whether this service issues the campaign's report tokens."""
        return self.reports is Reports.TOKEN and self.issuer is None

    @property
    def enrolling(self) -> frozenset[State]:
        """The states in which people may enrol: to contribute, or later to get a report token."""
        return _ENROLLING | (TOKENS_ISSUED | {State.OPT_IN_SEALED} if self.issues_tokens else set())

    @property
    def relay_awaited_until(self) -> datetime | None:
        """Until when a release waits for the relay's batch; None if it does not wait."""
        hours = self.rules.relay_wait_hours
        if hours is None or self.state is not State.CLIENTS_SEALED:
            return None
        return self.moved_at + timedelta(hours=hours)

    @property
    def nouns(self) -> dict[str, str | None] | None:
        """What a ``query`` and a ``url`` are called in the release; None if both are as usual."""
        nouns = {"query": self.query_name, "url": self.url_name}
        return None if set(nouns.values()) == {None} else nouns

    def require_possible_rules(self, now: datetime) -> None:
        """Refuse rules under which a side would close before it opens, while they can be mended."""
        rules = self.rules
        for name, earliest, rule in (
            ("opt_in_until", now, "later than now"),
            ("clients_until", now, "later than now"),
            ("clients_until", rules.opt_in_until, "later than opt_in_until"),
            ("clients_until", rules.clients_from, "later than clients_from"),
        ):
            time = getattr(rules, name)
            if time is not None and earliest is not None and time <= earliest:
                raise ParameterError(name, rule, time)

    def require_collector(self) -> None:
        """Refuse a campaign that does not say who collects; before people are asked."""
        for name in COLLECTOR:
            if getattr(self, name) is None:
                raise ParameterError(name, "given before the campaign is opened", None)

    def moved(self, move: Move, now: datetime) -> "Campaign":
        """Return the campaign after ``move``, or refuse it."""
        if move is Move.PURGE:
            if self.state is State.PURGED:
                raise MoveNotAllowedError(move, self.state)
            return replace(self, state=State.PURGED, moved_at=now)
        origin, destination = _STEPS[move]
        if self.state is not origin:
            raise MoveNotAllowedError(move, self.state)
        return replace(self, state=destination, moved_at=now)

    def due(self, *, contributions: int, reports: int, now: datetime) -> Move | None:
        """Return the move that the campaign's rules require now."""
        rules = self.rules
        was_open_long = now >= self.moved_at + timedelta(hours=rules.open_hours or 0)
        if self.state is State.OPT_IN_OPEN and (
            _has_come(rules.opt_in_until, now)
            or (
                _is_enough(contributions, rules.opt_in_enough)
                and (was_open_long or not self.open_enrolment)
            )
        ):
            return Move.SEAL_OPT_IN
        if self.state is State.LIST_PUBLISHED and _has_come(rules.clients_from, now):
            return Move.OPEN_CLIENTS
        if self.state is State.CLIENTS_OPEN and (
            _has_come(rules.clients_until, now)
            or (_is_enough(reports, rules.clients_enough) and was_open_long)
        ):
            return Move.SEAL_CLIENTS
        return None


def job_after(move: Move) -> JobKind | None:
    """Return the job that a move starts."""
    return _JOB_AFTER.get(move)


def _require_time_in_utc(name: str, time: datetime | None) -> None:
    """Refuse a time that is outside the calendar when converted to UTC."""
    try:
        if time is not None:
            time.astimezone(UTC)
    except OverflowError:
        raise ParameterError(name, "in the years 1 to 9999 in UTC", time) from None


def _has_come(deadline: datetime | None, now: datetime) -> bool:
    return deadline is not None and now >= deadline


def _is_enough(count: int, enough: int | None) -> bool:
    return enough is not None and count >= enough
