"""Trial of one store: single reports, then batches, then a SIGKILL and a check of the disk."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from benchmarks.service import campaign, servers
from benchmarks.service.load import Measured, loaded

PRESETS = ("sharp", "paper")
BATCH = 1_000
MOST_SINGLES, _MOST_BATCHES = 40_000, 400
"""Prepared for every second; nothing faster is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a load is sent."""

    connections: int
    seconds: int
    pause: int = 0
    """Milliseconds between an answer and the next request."""


SINGLES = Kind(connections=64, seconds=8)
BATCHES = Kind(connections=32, seconds=5)
"""Long enough for about a million ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One kind of load on one server."""

    load: Measured
    cpu_seconds: float
    """Of the server."""
    memory_mb: tuple[float, float]
    """Of the server, half-way and afterwards."""

    @property
    def requests_per_cpu_second(self) -> float:
        """How much a second of the server's processor time does, on a busy machine too."""
        return self.load.requests / self.cpu_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What was measured."""

    store: str
    preset: str
    nothing: Stage
    single: Stage
    half: Stage
    """Single reports at about half the highest rate."""
    batch: Stage
    memory_before: float
    kept: int
    """Reports that the store has after the service was killed."""

    @property
    def share(self) -> float:
        """Single reports against requests that do nothing."""
        return self.single.load.per_second / self.nothing.load.per_second

    @property
    def cpu_share(self) -> float:
        """The same for a second of processor time."""
        return self.single.requests_per_cpu_second / self.nothing.requests_per_cpu_second

    @property
    def acknowledged(self) -> int:
        """Reports that were answered as accepted."""
        single, half, batch = self.single.load, self.half.load, self.batch.load
        singles = sum(load.requests - load.refused for load in (single, half))
        return singles + BATCH * (batch.requests - batch.refused)


def tried(store: str, preset: str, database: str | None = None) -> Trial:
    """Measure a store; SQLite in a temporary directory unless an address is given."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        address = database or str(directory / "service.sqlite")
        published = campaign.head_list(preset)
        collecting = campaign.collecting(directory, address, published)
        ones, more, many = (directory / name for name in ("ones", "more", "many"))
        for singles in (ones, more):
            requests = MOST_SINGLES * SINGLES.seconds
            campaign.write_bodies(singles, published, requests=requests, reports_each=1)
        campaign.write_bodies(
            many, published, requests=_MOST_BATCHES * BATCHES.seconds, reports_each=BATCH
        )
        with servers.running(servers.nothing()) as noop:
            nothing = stage_of(noop, noop.url, ones, SINGLES)
        with servers.running(servers.service(directory, address)) as service:
            url = f"{service.url}/v1/campaigns/{collecting}/reports"
            before = service.memory_mb
            single = stage_of(service, url, ones, SINGLES)
            half = stage_of(service, url, more, _half_of(single))
            batch = stage_of(service, url, many, BATCHES)
        return Trial(
            store=store,
            preset=preset,
            nothing=nothing,
            single=single,
            half=half,
            batch=batch,
            memory_before=before,
            kept=campaign.reports_kept(address, collecting),
        )


def _half_of(highest: Stage) -> Kind:
    """Return a load of about half the rate: every connection waits as long as it took before."""
    pause = round(1000 * SINGLES.connections / highest.load.per_second)
    return Kind(connections=SINGLES.connections, seconds=SINGLES.seconds, pause=pause)


def stage_of(server: servers.RunningServer, url: str, bodies: Path, kind: Kind) -> Stage:
    """Measure one kind of load on a server."""
    used, seen = server.cpu_seconds, list[float]()
    half_way = Timer(kind.seconds / 2, lambda: seen.append(server.memory_mb))
    half_way.start()
    measured = loaded(
        url, bodies, connections=kind.connections, seconds=kind.seconds, pause=kind.pause
    )
    half_way.join()
    return Stage(
        load=measured,
        cpu_seconds=server.cpu_seconds - used,
        memory_mb=(seen[0], server.memory_mb),
    )
