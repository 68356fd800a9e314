"""OpenAPI description: the framework's routes, and the reports' route beside the framework."""

from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Litestar, Response, get
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from blender_dp.server.problems import MEDIA_TYPE, Problem
from blender_dp.service.http.messages import Taken
from blender_dp.service.http.reports.route import TEMPLATE
from blender_dp.service.http.routes import HANDLERS
from blender_dp.service.http.routes.asking import StrictRequest
from blender_dp.service.http.routes.refusals import WITH_BODY, by_status
from blender_dp.wire.reports.service_report import (
    ID_FIELD,
    MOST_REPORTS,
    TOKEN_FIELD,
    ReportFault,
)

_REFUSED = (
    *WITH_BODY,
    *(Problem.UNKNOWN_CAMPAIGN, Problem.NOT_COLLECTING, Problem.REPORT_ID_REUSED),
    Problem.KEYS_GONE,
    *(problem for problem in Problem if problem.kind.slug in list(ReportFault)),
)
_ID = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_-]{22}$",
    "description": "16 random bytes, base64url without padding, drawn before the report. The "
    "public coin: with subset selection the question is 'query' if the first 8 bytes (highest "
    "first) of SHA-256 of 'blender-dp public coin 1', a zero byte and the 16 bytes are below "
    "floor(query_share * 2^64), and 'record' otherwise.",
}
_SHARED = {
    "version": {"const": 1},
    "head_list": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
    "mechanism": {"type": "string", "examples": ["subset-selection/1", "local-alg/1"]},
}
_SUBSET = {
    "report_id": _ID,
    "question": {
        "enum": ["record", "query"],
        "description": "The one that report_id decides: one of the N = K cells of the list, or one "
        "of its N = k queries with 'everything else' last.",
    },
    "items": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]*$",
        "description": "The d items that the report names, base64url without padding of bytes: the "
        "shorter of the d numbers, increasing, in as many bits each as N - 1 needs, highest bit "
        "first, and a bitmap of N bits, item 0 first; the numbers if both are equally long; zeros "
        "fill the last byte. With a = e^-epsilon rounded up to a multiple of 2^-256 and W = 2^64, "
        "d is one of 1, max(c, 1) and min(c + 1, N - 1) for c = floor(N*a/(1 + a)): of those whose "
        "T = floor(W*d/(d + (N - d)*a)) has T*N > d*W, the one with the least "
        "(d*W - T)*((N - 1 - d)*W + T)/(N*T - d*W)^2, the smaller if two are equal; 1 if N = 1.",
    },
}
_CELL = {
    "report_id": _ID,
    "cell": {"type": "integer", "minimum": 0, "description": "Number of the reported cell."},
}


_TOKEN = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_-]{472}$",
    "description": "Instead of report_id, exactly if the list has a token_key: the Token of RFC "
    "9578, type 2, base64url without padding. The report id is the first 16 bytes of the SHA-256 "
    "of its authenticator.",
}


@cache
def openapi_document() -> dict[str, Any]:
    """Return the description of every documented route.

    Made by an application that is built for this only: the serving one has no routes for it.
    """
    described = Litestar(
        route_handlers=list(HANDLERS),
        request_class=StrictRequest,
        dependencies={"service": Provide(_no_state, sync_to_thread=False)},
        openapi_config=OpenAPIConfig(
            title="blender-dp collection service",
            version=version("blender-dp"),
            use_handler_docstrings=True,
            components=Components(
                security_schemes={"token": SecurityScheme(type="http", scheme="bearer")}
            ),
            render_plugins=[JsonRenderPlugin()],
        ),
        logging_config=None,
    )
    document = described.openapi_schema.to_schema()
    document["paths"][TEMPLATE] = {"post": _operation()}
    document["paths"] = dict(sorted(document["paths"].items()))
    for taken in Taken.__subclasses__():  # the framework does not say so
        document["components"]["schemas"][taken.__name__]["additionalProperties"] = False
    return document


def _no_state() -> None:
    """Replace the service's state, which the description does not need."""


@get("/openapi.json", include_in_schema=False, sync_to_thread=False)
def read_openapi() -> Response[bytes]:
    """Return the description."""
    return Response(msgspec.json.encode(openapi_document()), media_type="application/json")


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _batch_of(report: dict[str, Any]) -> dict[str, Any]:
    reports = {
        "type": "array",
        "items": _object(report),
        "minItems": 1,
        "maxItems": MOST_REPORTS,
    }
    return _object({**_SHARED, "reports": reports})


def _with_token(report: dict[str, Any]) -> dict[str, Any]:
    return {TOKEN_FIELD: _TOKEN, **{k: v for k, v in report.items() if k != ID_FIELD}}


def _operation() -> dict[str, Any]:
    problem = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
    counts = {name: {"type": "integer", "minimum": 0} for name in ("accepted", "repeated")}
    named = [_SUBSET, _CELL, _with_token(_SUBSET), _with_token(_CELL)]
    alone = [_object({**_SHARED, **fields}) for fields in named]
    body = {"anyOf": [*alone, *map(_batch_of, named)]}
    return {
        "tags": ["reports"],
        "operationId": "send_reports",
        "summary": "Send Reports",
        "description": "Take one report or a batch, already private; answer when it is on disk.\n\n"
        "The same report again counts once, so that a client may always retry. "
        "docs/reference/write-a-client.md says step by step how a report is made.",
        "parameters": [
            {
                "name": "campaign_id",
                "in": "path",
                "required": True,
                "schema": {"type": "string", "format": "uuid"},
            }
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "202": {
                "description": "Counted, or counted before.",
                "content": {"application/json": {"schema": _object(counts)}},
            },
            **{
                str(status): {"description": ", ".join(slugs), "content": {MEDIA_TYPE: problem}}
                for status, slugs in by_status(*_REFUSED).items()
            },
        },
    }
