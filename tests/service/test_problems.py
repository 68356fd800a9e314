"""Every problem is reached by a request of some test, and all are shaped alike."""

import re
from pathlib import Path

import msgspec
import pytest
from service.bad_requests import ALL

from blender_dp.server.problems import Problem
from blender_dp.service.storage.store import Reason

BY_REQUESTS = {bad.slug for bad in ALL}
"""These are sent and checked in test_refusals."""
BY_CLOCK = {"body-too-slow"}
"""Reached where a body never comes: test_request_body."""
ASSERTED = re.compile(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"')


def slugs_in_tests() -> set[str]:
    tests = Path(__file__).parents[1]
    return {
        slug
        for server in ("service", "relay")
        for path in (tests / server).glob("test_*.py")
        if path.name != Path(__file__).name
        for slug in ASSERTED.findall(path.read_text(encoding="utf-8"))
    }


def test_every_problem_is_reached() -> None:
    reached = BY_REQUESTS | BY_CLOCK | slugs_in_tests()
    assert {problem.kind.slug for problem in Problem} <= reached


@pytest.mark.parametrize("problem", Problem)
def test_every_problem_is_shaped_alike(problem: Problem) -> None:
    kind = problem.kind
    document = msgspec.json.decode(msgspec.json.encode(problem.error().document()))
    assert document == {"type": kind.type, "title": kind.title, "status": kind.status}
    assert re.fullmatch(r"urn:blender-dp:problem:[a-z0-9]+(-[a-z0-9]+)*", kind.type)
    named = problem.error(where="$.rules").document()
    assert msgspec.json.decode(msgspec.json.encode(named))["where"] == "$.rules"


def test_the_reasons_of_the_store_have_the_same_names_where_a_client_sees_them() -> None:
    slugs = {problem.kind.slug for problem in Problem}
    inner = {Reason.UNKNOWN_ENROLMENT, Reason.LEASE_LOST}
    assert {str(reason) for reason in set(Reason) - inner} <= slugs
