"""OpenAPI description of the relay."""

from functools import cache
from importlib.metadata import version
from typing import Any

from blender_dp.server.problems import MEDIA_TYPE, Problem
from blender_dp.wire.reports.service_report import MOST_REPORTS

_TEXT = {"type": "string", "pattern": "^[A-Za-z0-9_-]*$"}
_DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARED = {"version": {"const": 1}, "head_list": _DIGEST, "encryption_key": _TEXT}
_BODY = (Problem.BODY_NOT_JSON, Problem.BODY_NOT_UNDERSTOOD, Problem.DUPLICATE_KEY)
_UPLOAD = (
    *_BODY,
    *(Problem.UNKNOWN_CAMPAIGN, Problem.BODY_TOO_SLOW, Problem.NOT_COLLECTING),
    *(Problem.BODY_TOO_LARGE, Problem.INFLATED_TOO_LARGE, Problem.MEDIA_TYPE_NOT_SUPPORTED),
    *(Problem.ENCODING_NOT_SUPPORTED, Problem.UNKNOWN_REPORT_VERSION, Problem.ANOTHER_HEAD_LIST),
    Problem.ANOTHER_ENCRYPTION_KEY,
    *(Problem.WRONG_NUMBER_OF_REPORTS, Problem.NOT_EXPRESSIBLE, Problem.OVERLOADED),
)
_CAMPAIGN = {
    "name": "campaign_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "format": "uuid"},
}


@cache
def openapi_document() -> dict[str, Any]:
    """Return the description of every route."""
    campaign = "/v1/campaigns/{campaign_id}"
    return {
        "openapi": "3.1.0",
        "info": {"title": "blender-dp relay", "version": version("blender-dp")},
        "paths": {
            f"{campaign}/reports": {"post": _upload()},
            campaign: {"get": _counts()},
            f"{campaign}/statement": {"get": _statement()},
            "/health": {"get": _plain("Return whether the relay works and, if not, why.")},
            "/metrics": {"get": _plain("Return figures for Prometheus.", "text/plain")},
            "/openapi.json": {"get": _plain("Return this description.")},
            "/": {"get": _plain("Return the page of counts.", "text/html")},
            "/page.css": {"get": _plain("Return the style of that page.", "text/css")},
        },
    }


def _upload() -> dict[str, Any]:
    one = _object({**_SHARED, "report": _TEXT})
    texts = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_REPORTS}
    many = _object({**_SHARED, "reports": texts})
    return {
        "summary": "Store encrypted reports; answered when they are on disk.",
        "description": "The same bytes count once. No address, header or time is stored.",
        "parameters": [_CAMPAIGN],
        "requestBody": {"required": True, "content": _json({"oneOf": [one, many]})},
        "responses": {
            "202": _answer("on disk", _object({"accepted": _COUNT, "repeated": _COUNT})),
            **_refusals(*_UPLOAD),
        },
    }


def _counts() -> dict[str, Any]:
    states = {"enum": ["waiting", "forwarding", "forwarded", "destroyed"]}
    names = ("waiting", "forwarded", "destroyed", "least_batch")
    counts = dict.fromkeys(names, _COUNT)
    shown = _object({"campaign": {"type": "string"}, "state": states, **counts})
    return {
        "summary": "Return how many reports wait, were forwarded or destroyed.",
        "parameters": [_CAMPAIGN],
        "responses": {"200": _answer("counts", shown), **_refusals(Problem.UNKNOWN_CAMPAIGN)},
    }


def _statement() -> dict[str, Any]:
    shown = _object(
        {
            "version": {"const": 1},
            "statement": {"type": "object"},
            "public_key": _TEXT,
            "signature": _TEXT,
        }
    )
    refused = _refusals(Problem.UNKNOWN_CAMPAIGN, Problem.NOT_PUBLISHED)
    return {
        "summary": "Return what the relay signed about the batch of a campaign.",
        "parameters": [_CAMPAIGN],
        "responses": {"200": _answer("signed statement", shown), **refused},
    }


def _plain(summary: str, media_type: str = "application/json") -> dict[str, Any]:
    content: dict[str, Any] = {media_type: {"schema": {}}}
    return {"summary": summary, "responses": {"200": {"description": "answer", "content": content}}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _answer(says: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": says, "content": _json(schema)}


def _refusals(*problems: Problem) -> dict[str, Any]:
    """Return the problems by status."""
    by_status: dict[str, list[str]] = {}
    for problem in (*problems, Problem.METHOD_NOT_ALLOWED, Problem.INTERNAL_ERROR):
        by_status.setdefault(str(problem.kind.status), []).append(problem.kind.slug)
    return {
        status: {"description": ", ".join(slugs), "content": {MEDIA_TYPE: {"schema": {}}}}
        for status, slugs in sorted(by_status.items())
    }
