"""Problems: the closed list of refusals of every server, sent as RFC 9457 problem documents.

A problem never repeats the request. Its type, status and title are all that a program needs. The
lists in the reference and in the OpenAPI description are generated from here.
"""

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

import msgspec

from blender_dp.core.errors import BlenderError
from blender_dp.wire.reports.service_report import ReportFault

MEDIA_TYPE = "application/problem+json"
_PREFIX = "urn:blender-dp:problem:"


@dataclass(frozen=True, slots=True)
class Kind:
    """Slug, status and title that all problems of one kind share."""

    slug: str
    status: int
    title: str

    @property
    def type(self) -> str:
        """The URN by which programs tell problems apart."""
        return _PREFIX + self.slug


class Problem(Enum):
    """The closed list."""

    BODY_NOT_UTF8 = Kind("body-not-utf-8", 400, "The body must be text in UTF-8.")
    BODY_NOT_JSON = Kind("body-not-json", 400, "The body must be one JSON value.")
    BODY_TOO_DEEP = Kind("body-too-deep", 400, "The body's JSON must not be nested deeply.")
    DUPLICATE_KEY = Kind("duplicate-key", 400, "No object in the body may have a key twice.")
    NUMBER_NOT_FINITE = Kind("number-not-finite", 400, "Numbers in the body must be finite.")
    ODD_UNICODE = Kind(
        "odd-unicode", 400, "Texts in the body must be whole characters, no half surrogate pairs."
    )
    BODY_NOT_GZIP = Kind(
        "body-not-gzip", 400, "The body must be complete gzip data, as its header says."
    )
    BODY_NOT_UNDERSTOOD = Kind(
        "body-not-understood", 400, "The body must have the fields and types that are documented."
    )
    REQUEST_NOT_UNDERSTOOD = Kind(
        "request-not-understood", 400, "Path, query and headers must be as documented."
    )
    TOKEN_MISSING = Kind("token-missing", 401, "A token must be sent as Authorization: Bearer.")
    TOKEN_UNKNOWN = Kind("token-unknown", 401, "The token must be a valid one.")
    ROLE_NOT_ENOUGH = Kind("role-not-enough", 403, "The token's role must be allowed to do this.")
    ENROLMENT_CLOSED = Kind(
        "enrolment-closed", 403, "Enrolment must be open to everybody; the operator gives tokens."
    )
    ANOTHER_RELAY = Kind("another-relay", 403, "The campaign's own relay must have signed this.")
    NOT_FOUND = Kind("not-found", 404, "The path must be one of the documented ones.")
    UNKNOWN_CAMPAIGN = Kind("unknown-campaign", 404, "The campaign must be one that exists.")
    NOT_PUBLISHED = Kind("not-published", 404, "The document must be published already.")
    NO_RELAY = Kind("no-relay", 404, "The campaign must be one with a relay.")
    NO_REPORT_TOKENS = Kind(
        "no-report-tokens", 404, "The campaign must be one whose report tokens are issued here."
    )
    PLANNER_MISSING = Kind("planner-missing", 404, "The planner must be installed here.")
    METHOD_NOT_ALLOWED = Kind("method-not-allowed", 405, "The method must be a documented one.")
    BODY_TOO_SLOW = Kind("body-too-slow", 408, "The body must arrive in time.")
    NOT_A_DRAFT = Kind(
        "not-a-draft", 409, "The campaign must be a draft; once it was opened it cannot change."
    )
    MOVE_NOT_ALLOWED = Kind(
        "move-not-allowed", 409, "The move must start from the campaign's state; none goes back."
    )
    JOB_NOT_RETRIABLE = Kind(
        "job-not-retriable", 409, "The last job of this kind must be one that gave up or died."
    )
    NOT_COLLECTING = Kind(
        "campaign-not-collecting", 409, "The campaign must be collecting this at the moment."
    )
    ALREADY_CONTRIBUTED = Kind(
        "already-contributed", 409, "An enrolment may contribute once, and did with another body."
    )
    WITHDRAWN = Kind("withdrawn", 409, "An enrolment that withdrew may not contribute again.")
    TOKEN_ISSUED = Kind(
        "token-issued-already",
        409,
        "A person gets one report token per campaign, and got one for another request.",
    )
    REPORT_ID_REUSED = Kind(
        "report-id-reused", 409, "A report id must be new, or repeat the very same report."
    )
    BATCH_CHANGED = Kind(
        "relayed-batch-changed",
        409,
        "A relay sends one batch per campaign, and each of its pieces with one content.",
    )
    DRAFT_CHANGED = Kind(
        "draft-changed", 412, "The draft must be the one that was read; it is another one by now."
    )
    BODY_TOO_LARGE = Kind("body-too-large", 413, "The body must be within this route's limit.")
    INFLATED_TOO_LARGE = Kind(
        "inflated-body-too-large", 413, "The body must be within the limit when it is inflated."
    )
    MEDIA_TYPE_NOT_SUPPORTED = Kind(
        "media-type-not-supported", 415, "The body must be sent as application/json."
    )
    ENCODING_NOT_SUPPORTED = Kind(
        "encoding-not-supported", 415, "The body must be sent plain or in one layer of gzip."
    )
    PARAMETERS_REFUSED = Kind(
        "parameters-refused", 422, "Every parameter must be within its documented range."
    )
    UNREADABLE_TEXT = Kind(
        "unreadable-text",
        422,
        "A text must have a letter and no invisible sign; a web address no user name or backslash.",
    )
    RELEASE_TOO_LARGE = Kind(
        "release-too-large", 422, "A release that is compared here must have at most 8 MiB."
    )
    PLAN_TOO_LARGE = Kind(
        "plan-too-large", 422, "The plan must be computed within a minute and 4 GiB of memory."
    )
    PROMISE_BROKEN = Kind(
        "promise-broken", 422, "A campaign must spend no more privacy than it promises."
    )
    ANOTHER_CONSENT = Kind(
        "another-consent", 422, "Consent must be given to this campaign's text and version."
    )
    CONTRIBUTION_REFUSED = Kind(
        "contribution-refused", 422, "Every record and time must be within the documented limits."
    )
    UNKNOWN_REPORT_VERSION = Kind(
        "unknown-report-version", 422, "The report's version must be a supported one."
    )
    ANOTHER_HEAD_LIST = Kind(
        "another-head-list", 422, "The report must be made for this campaign's published list."
    )
    ANOTHER_ENCRYPTION_KEY = Kind(
        "another-encryption-key", 422, "The report must be encrypted with the key of the list."
    )
    ANOTHER_MECHANISM = Kind(
        "another-mechanism", 422, "The report must use the list's mechanism and its version."
    )
    WRONG_NUMBER_OF_REPORTS = Kind(
        "wrong-number-of-reports", 422, "A batch must have from 1 to 10,000 reports."
    )
    MALFORMED_REPORT_ID = Kind(
        "malformed-report-id", 422, "A report id must be 16 bytes in 22 letters of base64url."
    )
    MALFORMED_REPORT_TOKEN = Kind(
        "malformed-report-token",
        422,
        "A report token must be 354 bytes in 472 letters of base64url.",
    )
    INVALID_REPORT_TOKEN = Kind(
        "invalid-report-token",
        422,
        "A report token must be signed for this campaign with the key of its list.",
    )
    TOKEN_REQUEST_REFUSED = Kind(
        "token-request-refused",
        422,
        "A request for a token must be of type 2, for this campaign's key.",
    )
    REPEATED_REPORT_ID = Kind("repeated-report-id", 422, "A batch must have every report id once.")
    UNKNOWN_QUESTION = Kind("unknown-question", 422, "The question must be one that the list asks.")
    QUESTION_NOT_ASKED = Kind(
        "question-not-asked", 422, "The question must be the one that the report id decides."
    )
    NOT_EXPRESSIBLE = Kind(
        "not-expressible", 422, "A report must name what a device of this list could send."
    )
    BATCH_REFUSED = Kind(
        "relayed-batch-refused",
        422,
        "A piece must be as documented and as its statement says, in a batch that is large enough.",
    )
    BATCH_DIGEST_WRONG = Kind(
        "relayed-digest-wrong",
        422,
        "A batch must have the digest that its statement names; send all of its pieces again.",
    )
    TOO_MANY_REQUESTS = Kind(
        "too-many-requests", 429, "Requests must come less often; try again later."
    )
    INTERNAL_ERROR = Kind("internal-error", 500, "The service failed; the request is not at fault.")
    OVERLOADED = Kind("overloaded", 503, "The service is overloaded; try again later.")
    KEYS_GONE = Kind("keys-gone", 503, "The service must have its keys; try again later.")

    @property
    def kind(self) -> Kind:
        """Slug, status and title."""
        return self.value

    def error(self, **options: Any) -> "ProblemError":  # noqa: ANN401 - passed on as they are
        """Return the exception that answers a request with this problem."""
        return ProblemError(self, **options)


class ProblemError(BlenderError):
    """A request is answered with a problem."""

    def __init__(
        self, problem: Problem, *, where: str | None = None, retry_after: int | None = None
    ) -> None:
        self.problem, self.where, self.retry_after = problem, where, retry_after
        super().__init__(problem.kind.title)

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer besides the document."""
        headers = {}
        if self.problem.kind.status == 401:
            headers["www-authenticate"] = 'Bearer realm="blender-dp"'
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        return headers

    def document(self) -> "ProblemDocument":
        """Return the document that is sent."""
        kind = self.problem.kind
        return ProblemDocument(
            type=kind.type, title=kind.title, status=kind.status, where=self.where or msgspec.UNSET
        )


class ProblemDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A problem as it is sent (RFC 9457), application/problem+json."""

    type: str
    title: str
    status: int
    where: str | msgspec.UnsetType = msgspec.UNSET
    """Name of the documented field or parameter, never its value."""


RETRY_SECONDS = 2
"""Seconds after which a client should try again after an overload."""


_BY_SLUG = MappingProxyType({problem.kind.slug: problem for problem in Problem})


def of_fault(fault: ReportFault) -> ProblemError:
    """Return the problem of a fault in reports; both lists use the same names."""
    return _BY_SLUG[fault].error()
