"""Tests of a campaign that is killed and restored at every step: never two different noisy lists.

One campaign runs to its end. Before every step its database is backed up and its whole directory
copied. Each of these copies then runs on to the end by itself. Whatever it publishes must be what
the first run published, byte for byte; where that cannot be, it publishes nothing.
"""

import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from service.running import Published, Service, running, slug_of

from blender_dp.service.campaign import State
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.storage.sqlite.backup import back_up
from blender_dp.service.storage.store import Document
from blender_dp.wire.service.signed_head_list import read_signed_head_list

pytestmark = pytest.mark.anyio
USERS, REPORTS = 120, 12
NO_KEY = "campaign-not-collecting"
"""The answer to uploads once the keys that they need are destroyed."""


@dataclass(kw_only=True)
class Story:
    """What happened in the first run, and what it left."""

    live: Path
    campaign: str = ""
    late: str = ""
    """The enrolment of somebody who contributes late, or only to a restored database."""
    reports: dict[str, Any] = field(default_factory=dict)
    published: dict[Document, bytes] = field(default_factory=dict)


async def contribute_late(service: Service, story: Story) -> None:
    answer = await service.contribute(story.campaign, story.late)
    assert answer.status_code == 201 or slug_of(answer) == NO_KEY, answer.text


async def seal_opt_in(service: Service, story: Story) -> None:
    await service.moved(story.campaign, "seal-opt-in", "opt-in-open")


async def run_a_job(service: Service, story: Story) -> None:  # noqa: ARG001 - a step like others
    await service.worker.run_one()


async def open_clients(service: Service, story: Story) -> None:
    await service.moved(story.campaign, "open-clients", "list-published")


async def send_reports(service: Service, story: Story) -> None:
    """Let every device send the one report that it keeps."""
    if not story.reports:
        document = (await service.http.get(f"/v1/campaigns/{story.campaign}/head-list")).json()
        head_list = read_signed_head_list(document).head_list
        published = Published(campaign=story.campaign, head_list=head_list)
        one = published.report_on_a("record")
        others = [published.report(number=number) for number in range(REPORTS)]
        story.reports = published.batch_of([one, *others])
    answer = await service.send(story.campaign, story.reports)
    assert answer.status_code == 202 or slug_of(answer) == NO_KEY, answer.text


async def seal_clients(service: Service, story: Story) -> None:
    await service.moved(story.campaign, "seal-clients", "clients-open")


Step = Callable[[Service, Story], Awaitable[None]]
STEPS: Sequence[tuple[str, Step]] = [
    ("before the last contribution", contribute_late),
    ("before sealing", seal_opt_in),
    ("before the list", run_a_job),
    ("before erasing", run_a_job),
    ("before the clients come", open_clients),
    ("before the reports", send_reports),
    ("before the reports are sealed", seal_clients),
    ("before the release", run_a_job),
    ("before the last erasing", run_a_job),
]
NAMES = [name for name, _ in STEPS]
REFUSED = {
    **dict.fromkeys(NAMES[:3], Failure.KEY_DESTROYED),
    **dict.fromkeys(NAMES[3:6], Failure.TOO_FEW_REPORTS),
}
"""The end of a database that is restored with the keys that the first run left."""


async def documents(service: Service, campaign: str) -> dict[Document, bytes]:
    """Return what is published; of the signed list its content, for a log entry has its time."""
    found = {}
    for kind in Document:
        content = await service.dependencies.store.document(UUID(campaign), kind)
        if content is not None and kind is Document.HEAD_LIST:
            content = json.dumps(json.loads(content)["head_list"]).encode()
        if content is not None:
            found[kind] = content
    return found


@pytest.fixture(scope="module")
async def story(
    anyio_backend: str,  # noqa: ARG001 - makes the loop last as long as the service
    tmp_path_factory: pytest.TempPathFactory,
) -> Story:
    """Run a campaign to its end, with a copy before every step."""
    story = Story(live=tmp_path_factory.mktemp("live"))
    async with running(story.live) as service:
        story.campaign = await service.with_contributions(USERS)
        [story.late] = await service.enrolled(story.campaign, 1)
        for name, step in STEPS:
            copy = story.live / "copies" / name
            copy.mkdir(parents=True)
            back_up(story.live / "service.sqlite", copy / "service.sqlite")
            shutil.copytree(story.live / "keys", copy / "keys")
            await step(service, story)
        assert await service.state(story.campaign) == State.RELEASED
        story.published = await documents(service, story.campaign)
    assert set(story.published) == set(Document) - {Document.RELAY_ESTIMATES}
    return story


@asynccontextmanager
async def restored(
    story: Story, name: str, place: Path, *, with_keys: bool
) -> AsyncIterator[Service]:
    """Run a service on a copy; its keys are copied too, or are those that the first run left."""
    copy = story.live / "copies" / name
    shutil.copy(copy / "service.sqlite", place / "service.sqlite")
    shutil.copytree((copy if with_keys else story.live) / "keys", place / "keys")
    async with running(place) as service:
        yield service


async def failure(service: Service, story: Story) -> str | None:
    jobs = (await service.progress(story.campaign))["jobs"]
    return next((job["failure"] for job in jobs if job["failure"]), None)


@pytest.mark.parametrize("with_keys", [True, False], ids=["directory", "database"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_restored_campaign_publishes_the_same_or_nothing(
    story: Story, tmp_path: Path, name: str, with_keys: bool
) -> None:
    first = NAMES.index(name)
    async with restored(story, name, tmp_path, with_keys=with_keys) as service:
        for _, step in STEPS[first:]:
            if await failure(service, story):
                break
            await step(service, story)
        again = await documents(service, story.campaign)
        assert {kind: story.published[kind] for kind in again} == again
        if with_keys:
            assert set(again) == set(story.published)
        else:
            assert await failure(service, story) == REFUSED.get(name)
