"""Requests that must be refused, each with the problem that it must be refused with."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from service.running import Published, a_campaign, a_contribution

from blender_dp.service.http.reports.intake import MOST_BATCH_BYTES
from blender_dp.service.http.routes.asking import MOST_BYTES
from blender_dp.wire.service.contribution import MOST_BYTES as MOST_OPT_IN_BYTES

Content = bytes | Callable[[Published], bytes]
JSON = {"content-type": "application/json"}
GZIP = {**JSON, "content-encoding": "gzip"}
REPORTS = "/v1/campaigns/{campaign}/reports"
OPT_IN = "/v1/campaigns/{opt_in}/opt-in"
CAMPAIGNS = "/v1/campaigns"
ENROLMENTS = "/v1/campaigns/{opt_in}/enrolments"
MOVES = "/v1/campaigns/{opt_in}/moves"
RETRIES = "/v1/campaigns/{opt_in}/retries"


def cut_off(body: bytes) -> bytes:
    return body[: len(body) // 2]


def twice(body: bytes) -> bytes:
    """Return the object with its first member repeated at the end."""
    first, _, _ = body[1:].partition(b", ")
    return body[:-1] + b", " + first + b"}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """One class of bad input."""

    name: str
    path: str
    slug: str
    content: Content = b""
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def changed(**changes: Any) -> Content:
    """Return a report with these fields changed; None leaves one out."""

    def content(published: Published) -> bytes:
        report = {**published.report(), **changes}
        return encoded({name: value for name, value in report.items() if value is not None})

    return content


def batch(change: Callable[[dict[str, Any]], None]) -> Content:
    """Return a batch of three, changed."""

    def content(published: Published) -> bytes:
        document = published.batch(3)
        change(document)
        return encoded(document)

    return content


def spelled(change: Callable[[bytes], bytes]) -> Content:
    """Return an honest report, spelled in another way."""
    return lambda published: change(encoded(published.report()))


def _other_question(published: Published) -> bytes:
    report = published.report()
    other = "query" if report["question"] == "record" else "record"
    return encoded({**report, "question": other})


def _all_named(published: Published) -> bytes:
    report = published.report()
    return encoded({**report, "items": "_" * len(report["items"])})


def _letter_off(published: Published) -> bytes:
    report = published.report()
    return encoded({**report, "items": "+" + report["items"][1:]})


def _two_of_one_id(document: dict[str, Any]) -> None:
    document["reports"][1] = document["reports"][0]


def _one_wrong(document: dict[str, Any]) -> None:
    document["reports"][2]["items"] = ""


def _setting(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document[name] = value

    return change


def _setting_first(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["reports"][0][name] = value

    return change


def _too_many(document: dict[str, Any]) -> None:
    document["reports"] = [document["reports"][0]] * 10_001


NOT_UNDERSTOOD = "body-not-understood"
SPELLINGS = [
    ("an empty body", b"", "body-not-json"),
    ("white space alone", b"  \n", "body-not-json"),
    ("no JSON", b"report", "body-not-json"),
    ("two values", b"{} {}", "body-not-json"),
    ("a comment", b"{} // mine", "body-not-json"),
    ("a comma too many", b'{"a":1,}', "body-not-json"),
    ("single quotes", b"{'a':1}", "body-not-json"),
    ("a bare control character", b'{"a":"\x01"}', "body-not-json"),
    ("a number with a leading zero", b'{"a":01}', "body-not-json"),
    ("a byte order mark", b"\xef\xbb\xbf{}", "body-not-json"),
    ("UTF-16", "{}".encode("utf-16"), "body-not-utf-8"),
    ("Latin-1", b'{"a":"\xe9"}', "body-not-utf-8"),
    ("an overlong encoding", b'{"a":"\xc0\xaf"}', "body-not-utf-8"),
    ("a surrogate in UTF-8", b'{"a":"\xed\xa0\x80"}', "body-not-utf-8"),
    ("half a surrogate pair", b'{"a":"\\ud800"}', "odd-unicode"),
    ("a pair the wrong way round", b'{"a":"\\udc00\\ud800"}', "odd-unicode"),
    ("half a pair as a name", b'{"\\udfff":1}', "odd-unicode"),
    ("a key twice", b'{"a":1,"a":2}', "duplicate-key"),
    ("a key twice, deeper", b'{"b":[{"a":1,"a":1}]}', "duplicate-key"),
    ("a key twice, once escaped", b'{"a":1,"\\u0061":2}', "duplicate-key"),
    ("NaN", b'{"a":NaN}', "number-not-finite"),
    ("Infinity", b'{"a":Infinity}', "number-not-finite"),
    ("minus Infinity", b'{"a":-Infinity}', "number-not-finite"),
    ("a number beyond all", b'{"a":1e999}', "number-not-finite"),
    ("a thousand digits", b'{"a":' + b"9" * 1000 + b"}", NOT_UNDERSTOOD),
    ("deep lists", b"[" * 40 + b"]" * 40, "body-too-deep"),
    ("very deep lists", b"[" * 30_000 + b"]" * 30_000, "body-too-deep"),
    ("deep objects", b'{"a":' * 40 + b"1" + b"}" * 40, "body-too-deep"),
    ("null", b"null", NOT_UNDERSTOOD),
    ("a list", b"[]", NOT_UNDERSTOOD),
    ("a text", b'"report"', NOT_UNDERSTOOD),
    ("a number", b"1", NOT_UNDERSTOOD),
    ("an empty object", b"{}", NOT_UNDERSTOOD),
    ("unknown fields", b'{"colour":"blue"}', NOT_UNDERSTOOD),
]
"""Bad wherever a body is taken."""


def _wrappings(path: str, most: int) -> list[Bad]:
    """Return bodies that are sent in a wrong way."""
    bomb = gzip.compress(b" " * (most + 1))
    good = gzip.compress(b"{}")
    wrapped = [
        ("no media type", b"{}", {"content-type": ""}, "media-type-not-supported"),
        ("plain text", b"{}", {"content-type": "text/plain"}, "media-type-not-supported"),
        (
            "a form",
            b"a=1",
            {"content-type": "application/x-www-form-urlencoded"},
            "media-type-not-supported",
        ),
        (
            "another alphabet",
            b"{}",
            {"content-type": "application/json; charset=latin-1"},
            "media-type-not-supported",
        ),
        ("deflate", b"{}", {**JSON, "content-encoding": "deflate"}, "encoding-not-supported"),
        ("gzip twice", good, {**JSON, "content-encoding": "gzip, gzip"}, "encoding-not-supported"),
        ("gzip that is none", b"{}", GZIP, "body-not-gzip"),
        ("gzip cut off", good[:-4], GZIP, "body-not-gzip"),
        ("gzip with a wrong sum", good[:-8] + b"\0" * 8, GZIP, "body-not-gzip"),
        ("gzip and more", good + b"more", GZIP, "body-not-gzip"),
        ("a gzip bomb", bomb, GZIP, "inflated-body-too-large"),
        ("a body too large", b" " * (most + 1), JSON, "body-too-large"),
    ]
    return [
        Bad(name=name, path=path, content=content, headers=headers, slug=slug)
        for name, content, headers, slug in wrapped
    ]


def _fields(path: str, good: dict[str, Any], changes: list[tuple[str, Any, str]]) -> list[Bad]:
    """Return documents with one field changed; ... leaves it out."""
    made = []
    for name, value, slug in changes:
        document = {k: v for k, v in good.items() if k != name}
        if value is not ...:
            document[name] = value
        label = f"{name} missing" if value is ... else f"{name} {value!r}"
        made.append(Bad(name=label[:70], path=path, content=encoded(document), slug=slug))
    return made


_RECORD = {"query": "weather", "url": "weather.example"}
_RECEIPT = a_contribution()["consent"]
_REFUSED = "contribution-refused"
BAD_CONTRIBUTIONS = _fields(
    OPT_IN,
    a_contribution(),
    [
        ("version", 2, NOT_UNDERSTOOD),
        ("version", "1", NOT_UNDERSTOOD),
        ("version", ..., NOT_UNDERSTOOD),
        ("records", ..., NOT_UNDERSTOOD),
        ("records", None, NOT_UNDERSTOOD),
        ("records", [_RECORD] * 10_001, NOT_UNDERSTOOD),
        ("records", [{"query": "weather"}], NOT_UNDERSTOOD),
        ("records", [{**_RECORD, "title": "x"}], NOT_UNDERSTOOD),
        ("records", [{**_RECORD, "query": None}], NOT_UNDERSTOOD),
        ("records", [{**_RECORD, "query": 1}], NOT_UNDERSTOOD),
        ("records", [["weather", "weather.example"]], NOT_UNDERSTOOD),
        ("records", [{**_RECORD, "query": ""}], _REFUSED),
        ("records", [{**_RECORD, "url": ""}], _REFUSED),
        ("records", [{**_RECORD, "query": "q" * 2049}], _REFUSED),
        ("records", [{**_RECORD, "query": "é" * 1025}], _REFUSED),
        ("records", [{**_RECORD, "url": "u" * 8193}], _REFUSED),
        ("consent", ..., NOT_UNDERSTOOD),
        ("consent", {**_RECEIPT, "version": ""}, NOT_UNDERSTOOD),
        ("consent", {**_RECEIPT, "text_digest": "sha256:0"}, NOT_UNDERSTOOD),
        ("consent", {**_RECEIPT, "given_at": "yesterday"}, NOT_UNDERSTOOD),
        ("consent", {**_RECEIPT, "given_at": "2026-13-15T11:00:00Z"}, _REFUSED),
        ("consent", {**_RECEIPT, "given_at": "2026-11-15T11:00:00+00:00"}, NOT_UNDERSTOOD),
        ("consent", {**_RECEIPT, "version": "2"}, "another-consent"),
        ("consent", {**_RECEIPT, "text_digest": "sha256:" + "0" * 64}, "another-consent"),
    ],
)
_CONSENT = a_campaign()["consent"]
_PROMISE = a_campaign()["parameters"]
BAD_CAMPAIGNS = _fields(
    CAMPAIGNS,
    a_campaign(),
    [
        ("name", "", NOT_UNDERSTOOD),
        ("name", "n" * 201, NOT_UNDERSTOOD),
        ("name", ..., NOT_UNDERSTOOD),
        ("name", 7, NOT_UNDERSTOOD),
        ("purpose", "", NOT_UNDERSTOOD),
        ("controller", ..., NOT_UNDERSTOOD),
        ("controller", "", NOT_UNDERSTOOD),
        ("contact", ..., NOT_UNDERSTOOD),
        ("contact", None, NOT_UNDERSTOOD),
        ("privacy_policy", ..., NOT_UNDERSTOOD),
        ("privacy_policy", "javascript:alert(1)", NOT_UNDERSTOOD),
        ("privacy_policy", "https://library.example/\n", NOT_UNDERSTOOD),
        ("privacy_policy", "https:///privacy", NOT_UNDERSTOOD),
        ("consent", {**_CONSENT, "text": ""}, NOT_UNDERSTOOD),
        ("consent", {"version": "1"}, NOT_UNDERSTOOD),
        ("parameters", {"epsilon": 4}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "epsilon": 0}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "epsilon": -1}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "epsilon": 65}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "epsilon": "4"}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "epsilon": True}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "delta": 0}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "delta": 1}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "preset": "blunt"}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "head_list_size": 0}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "seed": 1}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "records_per_client": 2}, NOT_UNDERSTOOD),
        ("parameters", {**_PROMISE, "epsilon": 1e-9}, "parameters-refused"),
        ("parameters", {**_PROMISE, "project": False}, "parameters-refused"),
        ("expected_clients", -1, NOT_UNDERSTOOD),
        ("expected_clients", 1.5, NOT_UNDERSTOOD),
        ("expected_clients", 10**11, NOT_UNDERSTOOD),
        ("open_enrolment", "yes", NOT_UNDERSTOOD),
        ("rules", {"opt_in_enough": 0}, NOT_UNDERSTOOD),
        ("rules", {"opt_in_until": "2026-11-15T12:00:00"}, NOT_UNDERSTOOD),
        ("rules", {"opt_in_until": "soon"}, NOT_UNDERSTOOD),
        ("rules", {"until": None}, NOT_UNDERSTOOD),
        ("rules", {"open_hours": -1}, NOT_UNDERSTOOD),
        ("rules", {"open_hours": None}, NOT_UNDERSTOOD),
        ("rules", {"opt_in_until": "2026-11-15T11:59:59Z"}, "parameters-refused"),
        ("rules", {"opt_in_until": "0001-01-01T00:00:00+14:00"}, "parameters-refused"),
        ("rules", {"clients_until": "9999-12-31T23:59:59-14:00"}, "parameters-refused"),
    ],
)
BAD_MOVES = [
    *_fields(
        MOVES,
        {"move": "seal-opt-in", "from": "opt-in-open"},
        [
            ("move", "reopen", NOT_UNDERSTOOD),
            ("move", ..., NOT_UNDERSTOOD),
            ("from", ..., NOT_UNDERSTOOD),
            ("from", "nowhere", NOT_UNDERSTOOD),
            ("from", "draft", "move-not-allowed"),
            ("move", "publish-list", "move-not-allowed"),
            ("move", "open-opt-in", "move-not-allowed"),
        ],
    ),
    *_fields(
        RETRIES,
        {"kind": "erase"},
        [("kind", "everything", NOT_UNDERSTOOD), ("kind", "release", "job-not-retriable")],
    ),
    *_fields(
        ENROLMENTS,
        {"count": 1},
        [("count", value, NOT_UNDERSTOOD) for value in (0, -1, 10_001, 1.5, "1", None, True)],
    ),
]
_ID = "A" * 22
BAD_REPORTS = [
    Bad(name=name, path=REPORTS, content=content, slug=slug)
    for name, content, slug in [
        ("version 2", changed(version=2), "unknown-report-version"),
        ("version 0", changed(version=0), "unknown-report-version"),
        ("version true", changed(version=True), NOT_UNDERSTOOD),
        ("version 1.5", changed(version=1.5), NOT_UNDERSTOOD),
        ("version a text", changed(version="1"), NOT_UNDERSTOOD),
        ("no version", changed(version=None), NOT_UNDERSTOOD),
        ("no list", changed(head_list=None), NOT_UNDERSTOOD),
        ("another list", changed(head_list="sha256:" + "0" * 64), "another-head-list"),
        ("a list in capitals", changed(head_list="SHA256:0"), "another-head-list"),
        ("no mechanism", changed(mechanism=None), NOT_UNDERSTOOD),
        ("the other mechanism", changed(mechanism="local-alg/1"), "another-mechanism"),
        ("a later mechanism", changed(mechanism="subset-selection/2"), "another-mechanism"),
        ("no id", changed(report_id=None), NOT_UNDERSTOOD),
        ("a number as id", changed(report_id=1), NOT_UNDERSTOOD),
        ("a short id", changed(report_id="A" * 21), "malformed-report-id"),
        ("a long id", changed(report_id="A" * 23), "malformed-report-id"),
        ("a padded id", changed(report_id="A" * 22 + "=="), "malformed-report-id"),
        ("an id with +", changed(report_id="+" + "A" * 21), "malformed-report-id"),
        ("an id beyond ASCII", changed(report_id="é" * 22), "malformed-report-id"),
        ("an id of another spelling", changed(report_id="A" * 21 + "B"), "malformed-report-id"),
        ("no question", changed(question=None), NOT_UNDERSTOOD),
        ("an unknown question", changed(question="url"), "unknown-question"),
        ("the question not asked", _other_question, "question-not-asked"),
        ("no items", changed(items=None), NOT_UNDERSTOOD),
        ("empty items", changed(items=""), "not-expressible"),
        ("items too long", changed(items="A" * 1000), "not-expressible"),
        ("items as a list", changed(items=[1]), NOT_UNDERSTOOD),
        ("everything named", _all_named, "not-expressible"),
        ("items with +", _letter_off, "not-expressible"),
        ("a cell as well", changed(cell=1), NOT_UNDERSTOOD),
        ("a query as text", changed(query="weather"), NOT_UNDERSTOOD),
        ("a report and a batch", changed(reports=[]), NOT_UNDERSTOOD),
        ("an empty batch", batch(_setting("reports", [])), "wrong-number-of-reports"),
        ("a batch too large", batch(_too_many), "wrong-number-of-reports"),
        ("an id twice in a batch", batch(_two_of_one_id), "repeated-report-id"),
        ("one wrong in a batch", batch(_one_wrong), "not-expressible"),
        ("a batch of another list", batch(_setting("head_list", "x")), "another-head-list"),
        ("a batch with an id", batch(_setting("report_id", _ID)), NOT_UNDERSTOOD),
        ("a batch of texts", batch(_setting("reports", ["x"])), NOT_UNDERSTOOD),
        ("a batch as an object", batch(_setting("reports", {})), NOT_UNDERSTOOD),
        ("a version in a batch", batch(_setting_first("version", 1)), NOT_UNDERSTOOD),
        ("an id missing in a batch", batch(_setting_first("report_id", None)), NOT_UNDERSTOOD),
        ("a report cut off", spelled(cut_off), "body-not-json"),
        ("a report with a key twice", spelled(twice), "duplicate-key"),
        ("a report of 64 KiB", changed(items="A" * MOST_BYTES), "body-too-large"),
    ]
]
BAD_PLACES = [
    Bad(name="an unknown path", path="/v1/nothing", slug="not-found", method="GET"),
    Bad(name="a path of odd bytes", path="/v1/%ff%00", slug="not-found", method="GET"),
    Bad(name="a campaign that is no id", path="/v1/campaigns/7", slug="not-found", method="GET"),
    Bad(name="an id in capitals", path="/v1/campaigns/{CAMPAIGN}/reports", slug="not-found"),
    Bad(name="a method not there", path=CAMPAIGNS, slug="method-not-allowed", method="PUT"),
    Bad(name="reports by GET", path=REPORTS, slug="method-not-allowed", method="GET"),
    Bad(
        name="reports to a draft",
        path="/v1/campaigns/{draft}/reports",
        content=changed(),
        slug="campaign-not-collecting",
    ),
    Bad(
        name="reports to another campaign",
        path="/v1/campaigns/{other}/reports",
        content=changed(),
        slug="another-head-list",
    ),
    Bad(
        name="reports to no campaign",
        path="/v1/campaigns/00000000-0000-4000-8000-000000000000/reports",
        content=changed(),
        slug="unknown-campaign",
    ),
    *(
        Bad(name=f"a query of {query}", path=f"{CAMPAIGNS}?{query}", slug=slug, method="GET")
        for query, slug in [
            *(("limit=0", "request-not-understood"), ("limit=x", "request-not-understood")),
            *(("limit=1001", "request-not-understood"), ("after=7", "request-not-understood")),
        ]
    ),
    Bad(name="a log from -1", path="/v1/log?from=-1", slug="request-not-understood", method="GET"),
    Bad(
        name="a log from NaN", path="/v1/log?from=nan", slug="request-not-understood", method="GET"
    ),
]
EVERYWHERE = [
    Bad(name=name, path=path, content=content, slug=slug)
    for path in (REPORTS, OPT_IN, CAMPAIGNS)
    for name, content, slug in SPELLINGS
]
WRAPPED = [
    *_wrappings(REPORTS, MOST_BATCH_BYTES),
    *_wrappings(OPT_IN, MOST_OPT_IN_BYTES),
    *_wrappings(CAMPAIGNS, MOST_BYTES),
]
ALL = [
    *(*EVERYWHERE, *WRAPPED, *BAD_CONTRIBUTIONS, *BAD_CAMPAIGNS),
    *(*BAD_MOVES, *BAD_REPORTS, *BAD_PLACES),
]
