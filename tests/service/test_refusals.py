"""Every class of bad input is refused with its own problem, and nothing of it is repeated."""

from uuid import UUID

import httpx
import pytest
from service.bad_requests import ALL, Bad
from service.running import Published, Service, slug_of

from blender_dp.server.problems import Problem
from blender_dp.service.jobs.ticker import Ticker
from blender_dp.service.state import ServiceState

pytestmark = pytest.mark.anyio
FEWEST_CLASSES = 100
PLANTED = ("colour", "blue", "weather", "reopen", "blunt")
"""Of what the bad requests hold; none may come back."""


@pytest.fixture(scope="module")
async def places(service: Service, published: Published) -> dict[str, str]:
    """Return campaigns in several states, by the name that paths use for them."""
    opt_in = await service.created()
    await service.moved(opt_in, "open-opt-in", "draft")
    other = await service.published(users=60, parameters={"epsilon": 3, "delta": 1e-2})
    return {
        "campaign": published.campaign,
        "CAMPAIGN": published.campaign.upper(),
        "draft": await service.created(),
        "opt_in": opt_in,
        "other": other.campaign,
        "enrolment": (await service.enrolled(opt_in, 1))[0],
    }


async def sent(
    service: Service, published: Published, places: dict[str, str], bad: Bad
) -> httpx.Response:
    token = places["enrolment"] if bad.path.endswith("/opt-in") else None
    headers = {"authorization": f"Bearer {token}"} if token else service.as_role()
    content = bad.content(published) if callable(bad.content) else bad.content
    request = service.http.build_request(
        bad.method,
        bad.path.format(**places),
        content=content if bad.method == "POST" else None,
        headers={**headers, **{k: v for k, v in bad.headers.items() if v}},
    )
    return await service.http.send(request)


@pytest.mark.parametrize("bad", ALL, ids=lambda bad: f"{bad.path.rpartition('/')[2]}: {bad.name}")
async def test_bad_input_is_refused_with_its_own_problem(
    service: Service, published: Published, places: dict[str, str], bad: Bad
) -> None:
    before = await service.dependencies.store.report_counts(UUID(published.campaign))
    answer = await sent(service, published, places, bad)
    assert answer.status_code < 500, answer.text
    assert slug_of(answer) == bad.slug
    assert not [word for word in PLANTED if word in answer.text]
    after = await service.dependencies.store.report_counts(UUID(published.campaign))
    assert (after.cell_reports, after.query_reports) == (
        before.cell_reports,
        before.query_reports,
    )


async def test_a_refused_parameter_is_named_as_it_was_sent(service: Service) -> None:
    for path, name in [("/v1/log?from=x", "from"), ("/v1/campaigns?limit=x", "limit")]:
        answer = await service.http.get(path, headers=service.as_role())
        assert (slug_of(answer), answer.json()["where"]) == ("request-not-understood", name)


def test_there_are_at_least_a_hundred_classes() -> None:
    kinds = {(bad.name, bad.slug) for bad in ALL}
    assert len(kinds) >= FEWEST_CLASSES


async def test_the_bad_requests_are_bad_for_their_own_reason(
    service: Service, published: Published, places: dict[str, str]
) -> None:
    """The requests that were changed to be bad are good when they are not changed."""
    assert (await service.send(published.campaign, published.report())).status_code == 202
    assert (await service.send(published.campaign, published.batch(3))).status_code == 202
    answer = await service.contribute(places["opt_in"], places["enrolment"])
    assert answer.status_code == 201


async def test_refused_reports_are_counted_by_reason(fresh: Service) -> None:
    published = await fresh.published(users=60, parameters={"epsilon": 3, "delta": 1e-2})
    service: ServiceState = fresh.http._transport.app.service  # type: ignore[attr-defined]  # httpx keeps it
    for _ in range(2):
        await fresh.send(published.campaign, {**published.report(), "items": ""})
    await fresh.send(published.campaign, published.report())
    await fresh.send(published.campaign, {**published.report(), "version": 9})
    await Ticker(service).flush()
    refused = (await fresh.progress(published.campaign))["refused"]
    assert refused == {"not-expressible": 2, "unknown-report-version": 1}


def test_the_list_of_problems_is_closed_and_consistent() -> None:
    kinds = [problem.kind for problem in Problem]
    assert len({kind.slug for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert kind.slug == kind.slug.lower()
        assert 400 <= kind.status <= 503
        assert kind.title.endswith(".")
