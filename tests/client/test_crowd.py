"""Many requests at once: every one is counted, a busy service is heeded, a failure ends it all."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from client.stand_in import CAMPAIGN, StandIn, problem

from blender_dp.client import ServiceRefusalError, UnreachableError
from blender_dp.client.crowd.crowd import gather_crowd, run_concurrently
from blender_dp.client.patience import Patience

PATH = f"campaigns/{CAMPAIGN}/reports"
QUICK = Patience(attempts=3, first_wait=0.001, longest_wait=0.001)


async def later(count: int) -> int:
    await asyncio.sleep(0)
    return count


def test_everything_that_is_done_at_once_is_counted() -> None:
    seen: list[int] = []
    works = (partial(later, count) for count in range(1, 101))
    assert asyncio.run(run_concurrently(works, at_once=7, done=seen.append)) == 5050
    assert seen == sorted(seen)
    assert seen[-1] == 5050


def test_no_more_is_under_way_than_allowed() -> None:
    under_way = most = 0

    async def work() -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return 1

    assert asyncio.run(run_concurrently([work] * 50, at_once=4, done=lambda _: None)) == 50
    assert most == 4


def test_nothing_to_do_is_done() -> None:
    assert asyncio.run(run_concurrently([], at_once=3, done=lambda _: None)) == 0


def test_the_first_failure_ends_it_all() -> None:
    started = 0

    async def work() -> int:
        nonlocal started
        started += 1
        await asyncio.sleep(0)
        raise UnreachableError("away")

    with pytest.raises(ExceptionGroup):
        asyncio.run(run_concurrently([work] * 50, at_once=3, done=lambda _: None))
    assert started == 3


def sent(service: StandIn, count: int, patience: Patience = QUICK) -> int:
    async def everything() -> int:
        async with gather_crowd(service.url, connections=4, patience=patience) as crowd:

            async def one(number: int) -> int:
                await crowd.send("POST", PATH, body=str(number).encode())
                return 1

            works: list[Callable[[], object]] = [partial(one, number) for number in range(count)]
            return await run_concurrently(works, at_once=4, done=lambda _: None)  # type: ignore[arg-type]

    return asyncio.run(everything())


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again(status: int, service: StandIn) -> None:
    service.answers = [(status, {}, {"Retry-After": "0"})] * 2
    assert sent(service, 20) == 20
    assert sorted(map(int, service.bodies)) == list(range(20))


def test_a_service_that_stays_busy_is_left(service: StandIn) -> None:
    service.answers = [(503, {}, {})] * 100
    with pytest.raises(ExceptionGroup) as failures:
        sent(service, 1)
    assert failures.group_contains(UnreachableError, match="stays busy")


def test_a_refusal_is_told(service: StandIn) -> None:
    service.answers = [(409, problem("campaign-not-collecting"), {})]
    with pytest.raises(ExceptionGroup) as failures:
        sent(service, 1)
    assert failures.group_contains(ServiceRefusalError, match="campaign-not-collecting")


def test_a_service_that_is_away_is_left() -> None:
    away = StandIn()
    away.url = "http://127.0.0.1:9"
    with pytest.raises(ExceptionGroup) as failures:
        sent(away, 1)
    assert failures.group_contains(UnreachableError)
