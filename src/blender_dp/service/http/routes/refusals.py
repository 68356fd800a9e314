"""Problems of each route, as its OpenAPI description lists them."""

from collections import defaultdict
from collections.abc import Mapping

from litestar.openapi import ResponseSpec

from blender_dp.server.problems import MEDIA_TYPE, Problem, ProblemDocument

EVERYWHERE = (
    *(Problem.REQUEST_NOT_UNDERSTOOD, Problem.METHOD_NOT_ALLOWED, Problem.NOT_FOUND),
    *(Problem.INTERNAL_ERROR, Problem.OVERLOADED),
)
WITH_BODY = (
    *(Problem.BODY_NOT_UTF8, Problem.BODY_NOT_JSON, Problem.BODY_TOO_DEEP, Problem.DUPLICATE_KEY),
    *(Problem.NUMBER_NOT_FINITE, Problem.ODD_UNICODE, Problem.BODY_NOT_GZIP),
    *(Problem.BODY_NOT_UNDERSTOOD, Problem.BODY_TOO_SLOW, Problem.BODY_TOO_LARGE),
    *(Problem.INFLATED_TOO_LARGE, Problem.MEDIA_TYPE_NOT_SUPPORTED),
    Problem.ENCODING_NOT_SUPPORTED,
)
WITH_TOKEN = (
    *(Problem.TOKEN_MISSING, Problem.TOKEN_UNKNOWN, Problem.ROLE_NOT_ENOUGH),
    Problem.TOO_MANY_REQUESTS,
)


def by_status(*problems: Problem) -> dict[int, list[str]]:
    """Return the slugs of problems by their status."""
    slugs: defaultdict[int, list[str]] = defaultdict(list)
    for problem in dict.fromkeys((*problems, *EVERYWHERE)):
        slugs[problem.kind.status].append(problem.kind.slug)
    return dict(sorted(slugs.items()))


def refusals(*problems: Problem) -> Mapping[int, ResponseSpec]:
    """Return the OpenAPI description of these problems and of those of every route."""
    return {
        status: ResponseSpec(
            ProblemDocument,
            description=", ".join(slugs),
            media_type=MEDIA_TYPE,
            generate_examples=False,
        )
        for status, slugs in by_status(*problems).items()
    }
