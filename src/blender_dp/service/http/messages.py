"""Bodies of requests and answers, as the OpenAPI description shows them; strict on fields."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from blender_dp.core.parameters import Preset
from blender_dp.service.campaign import JobKind, Move, State
from blender_dp.service.operation.condition import Trouble
from blender_dp.wire.service.contribution import MOST_RECORDS, MOST_VERSION_LETTERS

MOST_CLIENTS = 10**10
MOST_EPSILON = 64.0
"""Largest ε of a campaign; the clients of this package already refuse far smaller values."""
Share = Annotated[float, Meta(gt=0, lt=1)]
Version = Annotated[str, Meta(min_length=1, max_length=MOST_VERSION_LETTERS)]


class Taken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all request bodies; unknown fields are refused."""


class WantedMove(Taken, frozen=True, kw_only=True):
    """A move, and the state in which the sender believes the campaign to be."""

    move: Move
    origin: State = msgspec.field(name="from")


class WantedRetry(Taken, frozen=True, kw_only=True):
    """The kind of job to try again."""

    kind: JobKind


class WantedEnrolments(Taken, frozen=True, kw_only=True):
    """Number of tokens to create."""

    count: Annotated[int, Meta(ge=1, le=10_000)]


class Receipt(Taken, frozen=True, kw_only=True):
    """The text of the consent, by version and digest, and when it was given."""

    version: Version
    text_digest: Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
    given_at: Annotated[str, Meta(min_length=20, max_length=24)]


class ContributedRecord(Taken, frozen=True, kw_only=True):
    """One search and the result chosen."""

    query: str
    url: str


class NewContribution(Taken, frozen=True, kw_only=True):
    """Upload of an opt-in user."""

    version: Literal[1]
    consent: Receipt
    records: Annotated[list[ContributedRecord], Meta(max_length=MOST_RECORDS)]


class WantedToken(Taken, frozen=True, kw_only=True):
    """Request of a device for its report token."""

    version: Literal[1]
    request: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{346}$")]
    """TokenRequest of RFC 9578, type 2: 259 bytes in base64url without padding."""


class Question(Taken, frozen=True, kw_only=True):
    """Question to the planner."""

    users: Annotated[int, Meta(ge=1, le=MOST_CLIENTS)]
    epsilon: Annotated[float, Meta(gt=0, le=MOST_EPSILON)]
    delta: Share
    opt_in: Share = 0.05
    like: Annotated[str, Meta(max_length=20, pattern="^[a-z]+(-[a-z]+|:[0-9.]+)?$")] = "aol"
    preset: Preset = "sharp"
    head_list_size: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    relay: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """Share of the clients who use a relay; the answer then has the same users without one too."""
    relay_cap: Annotated[float, Meta(gt=0, le=MOST_EPSILON)] = 8.0
    """The most that a report may reveal to relay and collector together: a campaign's cap."""
    known: bool = False
    """Whether the list of an earlier campaign of the same kind is known; with ``sharp`` only."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Enrolment tokens, shown only once."""

    tokens: list[str]


class OneToken(msgspec.Struct, frozen=True, kw_only=True):
    """An enrolment token, shown only once."""

    token: str


class Contributed(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a contribution."""

    repeated: bool
    """Whether the same contribution was stored already."""


class IssuedToken(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of an issuer: the signature of a blinded message."""

    response: str
    """TokenResponse of RFC 9578, type 2: 256 bytes in base64url without padding."""


class Taker(msgspec.Struct, frozen=True, kw_only=True):
    """Name and role of a token."""

    name: str
    role: str


class SignedLog(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of a log; the signature covers the last one."""

    entries: list[dict[str, Any]]
    public_key: str
    signature: str


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the service can work."""

    status: Literal["ok", "degraded"]
    reasons: list[Trouble]
    """Why it is degraded."""
    version: str
