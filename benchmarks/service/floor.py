"""Processor time of a single report between its floor and what the service needs.

python -m benchmarks.service.floor    # this part alone
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.service import campaign, servers
from benchmarks.service.cheapest import GROUP
from benchmarks.service.trial import PRESETS, Kind, stage_of

_ROUNDS = 5
"""Each program runs so often, in turns; its smallest figure counts."""
_LOAD = Kind(connections=64, seconds=3)
_MOST_BODIES = 40_000 * _LOAD.seconds
_TEXT = f"""
What processor time per request could be: *nothing* is the no-op from above; *floor* is the cheapest
program found that stores ids durably (`benchmarks/service/cheapest.py`): bare httptools on uvloop
without ASGI, the body decoded by msgspec, one commit of {GROUP} random ids of 16 bytes in SQLite
with the same settings. It checks no list and no repetition, counts no item, has no limit, no log
and no figures. Smallest of {_ROUNDS} runs of {_LOAD.seconds} s each, in turns. Load average
before: {{load:.1f}}.

| preset | nothing | floor | report | floor / nothing | report / floor |
|---|---|---|---|---|---|
"""
_WHY = """
Where a report's other time goes, each part measured alone, by the CPU of its thread (load 3 to 5):
HTTP with time limits takes 6 µs where the bare parser takes 1; to check list, id, question and
items and to make the tag 5 (`paper` 2); log line and figures 2; the store 8 to 10 where the floor's
takes 6, for tags, counters and the search for repeated ids. The rest are groups, three threads and
their turns at Python's lock, and colder caches. Beside much other work (load 8) a report takes 40
to 75.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Microseconds of processor time per request."""

    preset: str
    nothing: float
    cheapest: float
    report: float


def floors() -> Sequence[Floor]:
    """Measure every preset on SQLite."""
    return [_floor(preset) for preset in PRESETS]


def _floor(preset: str) -> Floor:
    rounds = [_round(preset) for _ in range(_ROUNDS)]
    nothing, cheapest, report = map(min, zip(*rounds, strict=True))
    return Floor(preset=preset, nothing=nothing, cheapest=cheapest, report=report)


def _round(preset: str) -> tuple[float, float, float]:
    """Return microseconds of the no-op, the floor and the service, each with an empty store."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        database, bodies = str(directory / "service.sqlite"), directory / "ones"
        published = campaign.head_list(preset)
        collecting = campaign.collecting(directory, database, published)
        campaign.write_bodies(bodies, published, requests=_MOST_BODIES, reports_each=1)
        cheapest = ("benchmarks.service.cheapest", str(directory / "ids.sqlite"))
        return (
            _microseconds(servers.nothing(), "", bodies),
            _microseconds(cheapest, "", bodies),
            _microseconds(
                servers.service(directory, database), f"/v1/campaigns/{collecting}/reports", bodies
            ),
        )


def _microseconds(program: Sequence[str], path: str, bodies: Path) -> float:
    with servers.running(program) as server:
        stage = stage_of(server, f"{server.url}{path}", bodies, _LOAD)
    if stage.load.refused or stage.load.broken:
        raise SystemExit(f"{program[0]}: {stage.load.refused} refused, {stage.load.broken} broken")
    return 1e6 * stage.cpu_seconds / stage.load.requests


def section(measured: Sequence[Floor], load: float) -> str:
    """Return the section of the page."""
    return (
        _TEXT.format(load=load)
        + "".join(
            f"| {one.preset} | {one.nothing:.1f} µs | {one.cheapest:.1f} µs | {one.report:.1f} µs "
            f"| {one.cheapest / one.nothing:.2f} | {one.report / one.cheapest:.2f} |\n"
            for one in measured
        )
        + _WHY
    )


def main() -> None:
    """Measure and print."""
    before = os.getloadavg()[0]
    print(section(floors(), before))


if __name__ == "__main__":
    main()
