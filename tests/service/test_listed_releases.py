"""The certificate of a campaign lists every release: nothing else depends on people's data.

Two campaigns have equally many users and the same coins, and otherwise nothing in common. Every
field in which their documents differ belongs to a release of the certificate, or can be computed
from those by anybody.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from service.neighbouring_campaigns import (
    PLAIN,
    RELEASE_FILES,
    People,
    Shown,
    body_of,
    both_shown,
    bytes_of,
    differing,
    differing_leaves,
    fixed_coins,
    shown_beside_plain,
)
from service.running import NAMES

from blender_dp.cli.download import write_released
from blender_dp.client.released import FILES, ReleasedFiles
from blender_dp.client.released_result import released_result
from blender_dp.core.blender import Curated
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.randomness import Randomness
from blender_dp.service.jobs import head_list
from blender_dp.wire.documents.document import digest_of_bytes, with_digest
from blender_dp.wire.published.estimates import opt_in_document

pytestmark = pytest.mark.anyio
ALL = len(PLAIN.opt_in)
CLIENTS = [NAMES[number % 2] for number in range(ALL)]
FEW = People(
    opt_in=[[NAMES[i % 3], ("one user's", f"{i}.example")][: 1 + i % 2] for i in range(ALL)],
    clients=CLIENTS,
)
MANY = People(
    opt_in=[[*NAMES, *((f"q{j}", "u.example") for j in range(20 + i % 2))] for i in range(ALL)],
    clients=CLIENTS,
)
RELEASE_OF = {
    "opt-in-estimates": {
        "tally.branch": "choice of the branch",
        "tally.weight_sum": "choice of the branch",
        "tally.values": "discovery",
        "candidate_queries": "discovery",
        "candidate_records": "discovery",
        "tally.sums": "sums",
        "noisy_counts": "sums",
        "tally.record_squares": "scalars",
        "tally.query_squares": "scalars",
    },
    "head-list": {
        "head_list.queries.query": "discovery",
        "head_list.queries.urls": "discovery",
        "head_list.mechanism.query_share": "discovery",  # computed from what is released with it
    },
    "client-estimates": {
        "report_counts": "report",
        "query_report_counts": "report",
        "reports": "report",  # how many were asked which question is decided by the list
        "query_reports": "report",
    },
}
"""The release of the certificate to which each field belongs."""
REPEATED = {"digest", "head_list", "head_list.digest", "signature", "log_entry.digest"} | {
    f"log_entry.{link}" for link in ("hash", "previous")
}
"""Fields that are computed from others of what is published."""
COMPUTED = {"release", "certificate", "log"} | RELEASE_FILES


@pytest.fixture
def coins() -> Iterator[pytest.MonkeyPatch]:
    with fixed_coins() as patch:
        yield patch


def listed_in(shown: Shown) -> set[str]:
    accounts = body_of(shown, "/certificate")["accounts"]
    return {part["release"] for account in accounts for part in account["parts"]}


def released_fields(one: Shown, other: Shown) -> set[tuple[str, str]]:
    """Return the fields that differ, each with its document; documents that are computed apart."""
    names = {name.rpartition("/")[2] for name in differing(one, other)} - COMPUTED
    return {
        (name, leaf)
        for name in names
        for leaf in differing_leaves(body_of(one, f"/{name}"), body_of(other, f"/{name}"))
        if leaf not in REPEATED
    }


def require_computed(directory: Path, shown: Shown) -> None:
    """Compute certificate and release from the other documents, and what the log says of both."""
    signed = body_of(shown, "/head-list")
    documents = {file: body_of(shown, f"/{name}") for file, name in FILES.items()}
    documents["head_list.json"] = signed["head_list"]
    result, certificate = released_result(documents)
    released = ReleasedFiles(
        documents=documents,
        public_key=signed["public_key"],
        result=result,
        certificate=certificate,
    )
    directory.mkdir()
    write_released(directory, released, UUID(int=0))
    log = body_of(shown, "/v1/log")
    assert [entry["digest"] for entry in log["entries"][1:]] == [
        signed["head_list"]["digest"],
        digest_of_bytes(bytes_of(shown, "/release")),
    ]


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize(
    ("other", "preset", "releases"),
    [
        (FEW, "sharp", {"choice of the branch", "discovery", "sums", "scalars"}),
        (MANY, "sharp", {"choice of the branch", "discovery, sums and scalars together"}),
        (FEW, "paper", {"discovery", "sums"}),
    ],
    ids=["few records each", "many records each", "paper"],
)
async def test_every_field_that_depends_on_data_belongs_to_a_listed_release(
    tmp_path: Path, other: People, preset: str, releases: set[str]
) -> None:
    shown = await shown_beside_plain(tmp_path, other, preset)
    assert listed_in(shown[1]) == releases | {"report"}
    found = {RELEASE_OF[name][leaf] for name, leaf in released_fields(*shown)}
    for release in found:
        assert any(release in listed for listed in listed_in(shown[1])), release
    for listed in listed_in(shown[1]):
        assert any(release in listed for release in found), listed
    for number, one in enumerate(shown):
        require_computed(tmp_path / str(number), one)


async def test_a_noisy_count_that_is_not_listed_is_seen(
    tmp_path: Path, coins: pytest.MonkeyPatch
) -> None:
    def with_one_more(curated: Curated) -> dict[str, Any]:
        scale = curated.parameters.laplace_scale
        noise = DiscreteLaplace(scale).draw(Randomness.keyed(bytes(32)))
        document = json.loads(json.dumps(opt_in_document(curated)))
        del document["digest"]
        return with_digest({**document, "noisy_size": len(curated.head_list.queries) + noise})

    coins.setattr(head_list, "opt_in_document", with_one_more)
    fields = released_fields(*await both_shown(tmp_path, FEW, "sharp"))
    assert {leaf for name, leaf in fields if leaf not in RELEASE_OF[name]} == {"noisy_size"}
