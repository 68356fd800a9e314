"""All bytes that two campaigns show whose data differ in one user, under the same coins.

The data differ in what that user searched for, in how many rows and in how many bytes, and they are
such that every count before noise is equal: the user's records are rare in both. So whatever
differs was published without noise.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from service.neighbouring_campaigns import (
    PLAIN,
    RELEASE_FILES,
    People,
    both_shown,
    differing,
    fixed_coins,
    shown_beside_plain,
)
from service.running import NAMES

from blender_dp.server.event_log import EventLog
from blender_dp.service.http.campaign_messages import ShownCampaign
from blender_dp.service.http.shown_progress import ShownProgress
from blender_dp.service.jobs import head_list
from blender_dp.service.operation.metrics import Metrics
from blender_dp.service.storage.store_population import ContributedRows
from blender_dp.wire.published.certificate import certificate_document

pytestmark = pytest.mark.anyio
RARE_TOO = ("another rare query, a long one", "elsewhere.example/a/long/page")
NEIGHBOURS = {
    "opt-in user": People(opt_in=[*PLAIN.opt_in[:-1], [RARE_TOO] * 20], clients=PLAIN.clients),
    "client": People(opt_in=PLAIN.opt_in, clients=[*PLAIN.clients[:-1], RARE_TOO]),
}
COUNTED = {
    "opt-in user": People(opt_in=[*PLAIN.opt_in[:-1], [NAMES[0]]], clients=PLAIN.clients),
    "client": People(opt_in=PLAIN.opt_in, clients=[*PLAIN.clients[:-1], NAMES[0]]),
}
OWN_DOCUMENT = {"opt-in user": "opt-in-estimates", "client": "client-estimates"}
Patch = pytest.MonkeyPatch


@pytest.fixture
def coins() -> Iterator[Patch]:
    with fixed_coins() as patch:
        yield patch


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("preset", ["sharp", "paper"])
@pytest.mark.parametrize("who", NEIGHBOURS)
async def test_nothing_but_noisy_counts_depends_on_a_users_records(
    tmp_path: Path, who: str, preset: str
) -> None:
    one, other = await shown_beside_plain(tmp_path, NEIGHBOURS[who], preset)
    states = {name.partition(" ")[0] for name in one}
    assert states == {"opt-in-open", "clients-open", "released", "purged", "event_log"}
    assert differing(one, other) == set()


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("who", COUNTED)
async def test_a_listed_record_of_that_user_is_counted(tmp_path: Path, who: str) -> None:
    """The test above has teeth: that user takes part, in either group."""
    shown = await shown_beside_plain(tmp_path, COUNTED[who])
    names = {name.rpartition("/")[2] for name in differing(*shown)}
    assert names == {OWN_DOCUMENT[who], "release", "log"} | RELEASE_FILES


def leak_into_certificate(patch: Patch, rows: Callable[[], int]) -> None:
    patch.setattr(
        head_list,
        "certificate_document",
        lambda *given: {**certificate_document(*given), "rows": rows()},
    )


def leak_into_event_log(patch: Patch, rows: Callable[[], int]) -> None:
    def write(event_log: EventLog, event: str, **told: Any) -> None:
        plain(event_log, event, **told, rows=rows())

    plain = EventLog.write
    patch.setattr(EventLog, "write", write)


def leak_into_metrics(patch: Patch, rows: Callable[[], int]) -> None:
    ended = Metrics.count_job
    patch.setattr(
        Metrics, "count_job", lambda figures, kind, _: ended(figures, kind, f"{rows()} rows")
    )


def leak_into_progress(patch: Patch, rows: Callable[[], int]) -> None:
    of = ShownProgress.of
    patch.setattr(
        ShownProgress, "of", lambda found: msgspec.structs.replace(of(found), withdrawn=rows())
    )


def leak_into_campaign(patch: Patch, rows: Callable[[], int]) -> None:
    of = ShownCampaign.of
    patch.setattr(
        ShownCampaign, "of", lambda *found: msgspec.structs.replace(of(*found), name=f"{rows()}")
    )


LEAKS = {
    leak_into_certificate: "nobody /v1/campaigns/{campaign_id}/certificate",
    leak_into_event_log: "event_log",
    leak_into_metrics: "nobody /metrics",
    leak_into_progress: "auditor /v1/campaigns/{campaign_id}/progress",
    leak_into_campaign: "nobody /v1/campaigns/{campaign_id}",
}
"""Places that do not depend on each other: each is found by its own leak only."""


async def test_a_number_of_rows_is_seen_wherever_it_is_shown(tmp_path: Path, coins: Patch) -> None:
    last: list[ContributedRows] = []
    begin = ContributedRows.__init__

    def begin_and_tell(rows: ContributedRows) -> None:
        begin(rows)
        last[:] = [rows]

    coins.setattr(ContributedRows, "__init__", begin_and_tell)
    for leak in LEAKS:
        leak(coins, lambda: last[0].table().num_rows if last else 0)
    names = differing(*await both_shown(tmp_path, NEIGHBOURS["opt-in user"]))
    for found in LEAKS.values():
        assert any(name.endswith(found) for name in names), (found, names)
