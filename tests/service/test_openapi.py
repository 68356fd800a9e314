"""The OpenAPI description is true: schemathesis holds the running service against it."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.schemas import BaseSchema
from service.listening import Listening, listening
from service.running import Service

from blender_dp.relay import openapi as relay_openapi
from blender_dp.server.problems import Problem
from blender_dp.service.http.openapi import openapi_document

load_all_checks()
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, item in openapi_document()["paths"].items()
    for method in item
]
EXCLUDED: list[Any] = CHECKS.get_by_names(["positive_data_acceptance"])
"""A body may be as documented and yet ask for what a campaign's state or promise refuses."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("openapi")) as started:
        yield started


@pytest.fixture(scope="module")
def campaign(server: Listening) -> str:
    async def published(service: Service) -> str:
        return (
            await service.published(users=60, parameters={"epsilon": 3, "delta": 1e-2})
        ).campaign

    return str(server.do(published))


@pytest.fixture(scope="module")
def schema() -> BaseSchema:
    return schemathesis.openapi.from_dict(openapi_document())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_answer_is_undocumented_or_a_failure(
    operation: str, schema: BaseSchema, server: Listening, campaign: str
) -> None:
    assert server.service is not None
    headers = {"Authorization": server.service.as_role()["authorization"]}

    @settings(
        max_examples=10,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: schemathesis.Case[Any]) -> None:
        if _is_uuid(case.path_parameters.get("campaign_id")):
            case.path_parameters["campaign_id"] = campaign
        case.call_and_validate(base_url=server.url, headers=headers, excluded_checks=EXCLUDED)

    # Here and not by schemathesis' own `parametrize`, which makes all cases while tests are
    # collected: every process of pytest would take three seconds for it.
    method, _, path = operation.partition(" ")
    build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=ask,
        given_kwargs={},
        feedback=FeedbackSources(),
    )()


def _is_uuid(value: object) -> bool:
    """Tell whether a made-up id may be replaced by a real one; an id that is none must stay so."""
    try:
        return str(UUID(str(value))) == value
    except ValueError:
        return False


def test_every_problem_is_documented_somewhere() -> None:
    described = " ".join(
        answer["description"]
        for document in (openapi_document(), relay_openapi.openapi_document())
        for item in document["paths"].values()
        for operation in item.values()
        for answer in operation["responses"].values()
    )
    missing = [
        p.kind.slug for p in Problem if p.kind.slug not in described.replace(",", " ").split()
    ]
    assert missing == []
