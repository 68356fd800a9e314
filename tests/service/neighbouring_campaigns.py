"""Two campaigns of two services under the same coins, and every byte that each of them shows.

The coins of a campaign are those of its service (ids, keys, tokens), of the curator and of every
device. The curator's are derived from the data (``one_draw.py``), so that other data get
independent noise; here they are fixed instead.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from litestar.handlers import HTTPRouteHandler
from service.running import NAMES, Published, Service, running

from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.service.http import asgi_app as front
from blender_dp.service.http.access import Role
from blender_dp.service.http.routes import HANDLERS
from blender_dp.service.keys.one_draw import Fingerprint
from blender_dp.service.operation import condition
from blender_dp.wire.reports.service_report import service_report_document

Named = tuple[str, str]
"""A query and a URL."""
Contribution = Sequence[Named]
_CREATED = b"_created"
"""When a figure was first counted, by the clock of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """What everybody has: each opt-in user some records, each client one."""

    opt_in: Sequence[Contribution]
    clients: Sequence[Named]


USERS = 100
RARE = ("a rare query", "rare.example")
RELEASE_FILES = {
    *("records.csv", "queries.csv", "records.parquet", "queries.parquet", "report.html"),
}
"""Files that the service makes of a release."""
PLAIN = People(
    opt_in=[*([NAMES[i % 5]] if i % 9 else [] for i in range(USERS)), [RARE]],
    clients=[*(NAMES[i % 5] for i in range(USERS)), RARE],
)
"""Users of whom the last, in either group, has a record that nobody else has."""
Shown = dict[str, bytes]
"""Everything that a campaign shows: a status, headers and a body by state, role and path."""
_PLAIN_SHOWN: dict[str, Shown] = {}
"""What a campaign of ``PLAIN`` shows, by preset."""


@contextmanager
def fixed_coins() -> Iterator[pytest.MonkeyPatch]:
    """Fix the curator's coins and what the machine's clock would add to figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fingerprint, "randomness", lambda *_: Randomness.keyed(_coins("curator")))
        patch.setattr(front, "time", SimpleNamespace(perf_counter=lambda: 0.0))
        patch.setattr(condition, "_VALID_SECONDS", 0.0)
        yield patch


async def shown_of(directory: Path, people: People, preset: str = "sharp") -> Shown:
    """Run a campaign from its draft to its purge; return all that anybody is shown meanwhile."""
    shown: Shown = {}
    async with running(directory, draw=_service_coins()) as service:
        campaign = await service.created(parameters={"epsilon": 4, "delta": 1e-2, "preset": preset})
        await service.moved(campaign, "open-opt-in", "draft")
        tokens = await service.enrolled(campaign, len(people.opt_in))
        for token, records in zip(tokens, people.opt_in, strict=True):
            given = [{"query": query, "url": url} for query, url in records]
            answer = await service.contribute(campaign, token, records=given)
            assert answer.status_code == 201, answer.text
        shown |= await _looked_at(service, campaign)
        await service.moved(campaign, "seal-opt-in", "opt-in-open")
        await service.jobs_done()
        await service.moved(campaign, "open-clients", "list-published")
        await _report(service, await service.published_list(campaign), people.clients)
        shown |= await _looked_at(service, campaign)
        await service.moved(campaign, "seal-clients", "clients-open")
        await service.jobs_done()
        shown |= await _looked_at(service, campaign)
        await service.moved(campaign, "purge", "released")
        await service.jobs_done()
        shown |= await _looked_at(service, campaign)
        shown["event_log"] = (await service.written()).encode()
    return shown


async def both_shown(directory: Path, other: People, preset: str = "sharp") -> tuple[Shown, Shown]:
    """Run one campaign of ``PLAIN`` and one of others."""
    shown = []
    for name, people in (("one", PLAIN), ("other", other)):
        (directory / name).mkdir()
        shown.append(await shown_of(directory / name, people, preset))
    return shown[0], shown[1]


async def shown_beside_plain(
    directory: Path, other: People, preset: str = "sharp"
) -> tuple[Shown, Shown]:
    """Do the same with unchanged code: the campaign of ``PLAIN`` is run once for all tests."""
    if preset not in _PLAIN_SHOWN:
        (directory / "plain").mkdir()
        _PLAIN_SHOWN[preset] = await shown_of(directory / "plain", PLAIN, preset)
    (directory / "other").mkdir()
    return _PLAIN_SHOWN[preset], await shown_of(directory / "other", other, preset)


def differing(one: Shown, other: Shown) -> set[str]:
    """Return the names of all that is not the same to the byte."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def bytes_of(shown: Shown, document: str) -> bytes:
    """Return a document that anybody finds once the campaign is released."""
    [name] = [
        name for name in shown if name.startswith("released nobody") and name.endswith(document)
    ]
    return shown[name].partition(b"\n\n")[2]


def body_of(shown: Shown, document: str) -> Any:
    """Return the same, read."""
    return json.loads(bytes_of(shown, document))


def differing_leaves(one: Any, other: Any, path: str = "") -> set[str]:
    """Return the fields in which two documents differ; all items of a list share a name."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            leaf
            for name in one.keys() | other.keys()
            for leaf in differing_leaves(one.get(name), other.get(name), f"{path}.{name}")
        }
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip_longest(one, other)
        return {leaf for pair in pairs for leaf in differing_leaves(*pair, path)}
    if one == other:
        return set()
    # What only one of them has differs in all of its fields.
    inner = [side for side in (one, other) if isinstance(side, dict | list)]
    if len(inner) == 1:
        return differing_leaves(inner[0], type(inner[0])(), path)
    return {path.removeprefix(".")}


async def _report(service: Service, published: Published, records: Sequence[Named]) -> None:
    for number, record in enumerate(records):
        name = _coins(f"name {number}")[:16]
        coins = Randomness.keyed(_coins(f"device {number}"))
        device = LocalRandomizer(published.head_list, campaign_id=name, randomness=coins)
        report = service_report_document(published.head_list, name, device.report(*record))
        answer = await service.send(published.campaign, report)
        assert answer.status_code == 202, answer.text


async def _looked_at(service: Service, campaign: str) -> Shown:
    """Ask for everything that can be read, as nobody and as an auditor, who may read it all."""
    state = await service.state(campaign)
    shown: Shown = {}
    for path in _paths():
        for role in (None, Role.AUDITOR):
            headers = service.as_role(role) if role else {}
            answer = await service.http.get(path.format(campaign_id=campaign), headers=headers)
            assert answer.status_code < 500, path
            lines = [line for line in answer.content.split(b"\n") if _CREATED not in line]
            head = "\n".join(
                f"{name}: {value}"
                for name, value in sorted(answer.headers.items())
                if (name, path) != ("content-length", "/metrics")  # of the lines left out too
            )
            told = f"{answer.status_code}\n{head}\n\n".encode() + b"\n".join(lines)
            shown[f"{state} {role or 'nobody'} {path}"] = told
    return shown


def _paths() -> Sequence[str]:
    """Return every route that can be read, described in the API or not."""
    readable = [one for one in HANDLERS if isinstance(one, HTTPRouteHandler)]
    assert len(readable) == len(HANDLERS)
    paths = {path for one in readable if "GET" in one.http_methods for path in one.paths}
    return sorted(path.replace(":uuid}", "}") for path in paths)


def _service_coins() -> Callable[[int], bytes]:
    return Randomness.keyed(_coins("service")).draw_bytes


def _coins(purpose: str) -> bytes:
    return hashlib.sha256(purpose.encode()).digest()
