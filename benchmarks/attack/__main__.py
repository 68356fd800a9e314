"""Attack the collection service and write ``attack.md``: ``make attack``."""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measure import made_by
from benchmarks.service import campaign, servers
from blender_dp.core.head_list.head_list import HeadList

RESULTS = Path(__file__).parents[1] / "attack.md"
HONEST = 64
ATTACKERS = 4
HELD = {"idle": 10_000, "half-open": 1_000, "slow": 200}
LEAST_SHARE = 0.7
MOST_HEALTH_SECONDS = 1.0
MOST_MORE_MEMORY_MB = 50.0
_PREPARED = 6_000
"""Reports per second of honest load; beyond them they are repeated, which costs less."""
_BACK_SECONDS = 60.0
"""In these, memory must be back after an attack."""
_BEAT = 0.2
TEXT = """
One process of `blender-dp serve` on SQLite; {honest} honest connections send single reports, each
when its last is answered, for {seconds:.0f} s. Everything runs on the same machine, over loopback:
attackers take processor time from the service by being there.

- *bombs*: {attackers} attackers send 32 kB of gzip that inflate to 11 million empty reports, each
  as soon as the last was answered. No token is needed for that.
- *connections*: {idle:,} connections that send nothing, {half:,} that stop in the middle of the
  headers, {slow:,} whose bodies come one byte per second; each is opened again when it is ended.

Goals: honest reports keep {share:.1f} of their rate under bombs, and are served beside the
connections; `/health` answers within {health:.0f} s throughout; a minute later the memory is back
to at most {memory:.0f} MB more than before.

| | reports/s | share | not accepted | worst `/health` | attackers | goal |
|---|---|---|---|---|---|---|
"""


@dataclass(slots=True, kw_only=True)
class Watch:
    """Asks for the service's health all the time."""

    url: str
    slowest: float = 0.0
    failures: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(default_factory=threading.Thread)

    def __enter__(self) -> "Watch":
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._ended.wait(_BEAT):
            began = time.monotonic()
            try:
                well = httpx.get(f"{self.url}/health", timeout=60).status_code == 200
            except httpx.HTTPError:
                well = False
            self.failures += not well
            self.slowest = max(self.slowest, time.monotonic() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What honest clients had of the service, and its attackers."""

    name: str
    per_second: float
    refused: int
    slowest_health: float
    health_failures: int
    attackers: Mapping[str, int]
    memory_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """A service under attack."""

    server: servers.RunningServer
    reports: str
    directory: Path
    published: HeadList
    seconds: float

    def stage(self, name: str, attackers: Mapping[str, int]) -> Stage:
        """Measure honest reports during an attack by this many attackers of each kind."""
        bodies = self.directory / name
        count = max(HONEST, int(_PREPARED * self.seconds))
        campaign.write_bodies(bodies, self.published, requests=count, reports_each=1)
        lasting = 10 * self.seconds + 600  # they are ended when the honest ones are done
        with ExitStack() as stack:
            for kind, count in attackers.items():
                stack.enter_context(self._sending(kind, count, lasting))
            watch = stack.enter_context(Watch(url=self.server.url))
            with self._sending("honest", HONEST, self.seconds, str(bodies)) as honest:
                said = json.loads(_line(honest))
            memory = self.server.memory_mb
        answers = said["answers"]
        return Stage(
            name=name,
            per_second=answers.get("202", 0) / said["seconds"],
            refused=sum(answers.values()) - answers.get("202", 0),
            slowest_health=watch.slowest,
            health_failures=watch.failures,
            attackers=attackers,
            memory_mb=memory,
        )

    @contextmanager
    def _sending(
        self, kind: str, count: int, seconds: float, *more: str
    ) -> Iterator["subprocess.Popen[str]"]:
        arguments = [kind, self.reports, str(count), str(seconds), *more]
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.attack.senders", *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert _line(process) == "ready", f"the {kind} connections could not be opened"
            yield process
        finally:
            process.kill()
            process.communicate()

    def memory_after(self, most: float) -> float:
        """Return the memory as soon as it is back, or what it is a minute later."""
        until = time.monotonic() + _BACK_SECONDS
        while self.server.memory_mb > most and time.monotonic() < until:
            time.sleep(1)
        return self.server.memory_mb


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def measure(seconds: float, held: Mapping[str, int]) -> tuple[Sequence[Stage], float, float]:
    """Return every stage, and the memory before and after."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        address = str(directory / "service.sqlite")
        published = campaign.head_list("sharp")
        collecting = campaign.collecting(directory, address, published)
        with servers.running(servers.service(directory, address)) as server:
            attacked = Attacked(
                server=server,
                reports=f"{server.url}/v1/campaigns/{collecting}/reports",
                directory=directory,
                published=published,
                seconds=seconds,
            )
            attacked.stage("warming up", {})
            quiet = attacked.stage("nobody else", {})
            before = server.memory_mb
            stages = [quiet, attacked.stage("bombs", {"bombs": ATTACKERS})]
            stages.append(attacked.stage("connections", held))
            return stages, before, attacked.memory_after(before + MOST_MORE_MEMORY_MB)


def is_met(stage: Stage, quiet: Stage) -> bool:
    """Tell whether a stage meets its goals; beside held connections any honest rate will do."""
    least = LEAST_SHARE * quiet.per_second if "bombs" in stage.attackers else 0.0
    is_served = stage.per_second > 0 and stage.per_second >= least
    return is_served and not stage.health_failures and stage.slowest_health <= MOST_HEALTH_SECONDS


def written(stages: Sequence[Stage], before: float, after: float, **sizes: Any) -> str:  # noqa: ANN401
    """Return the page."""
    quiet = stages[0]
    lines = [f"# The collection service under attack\n\n{made_by('make attack')}\n"]
    lines.append(TEXT.format(**sizes))
    for stage in stages:
        share = stage.per_second / quiet.per_second
        verdict = "met" if is_met(stage, quiet) else "missed"
        attackers = ", ".join(f"{count:,} {kind}" for kind, count in stage.attackers.items())
        lines.append(
            f"| {stage.name} | {stage.per_second:,.0f} | {share:.2f} | {stage.refused:,} "
            f"| {stage.slowest_health:.2f} s | {attackers or '–'} | {verdict} |\n"
        )
    is_back = after <= before + MOST_MORE_MEMORY_MB
    most = max(stage.memory_mb for stage in stages)
    lines.append(
        f"\nMemory of the service: {before:.0f} MB before, {most:.0f} MB at most while attacked, "
        f"{after:.0f} MB afterwards ({'met' if is_back else 'missed'}).\n"
    )
    return "".join(lines)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="honest load of each stage")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of connections")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    held = {kind: max(1, int(count * chosen.scale)) for kind, count in HELD.items()}
    needed = sum(held.values()) + 200
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise SystemExit(
            f"this needs {needed:,} file descriptors; the limit is {hard:,} (ulimit -n)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stages, before, after = measure(chosen.seconds, held)
    text = written(
        stages,
        before,
        after,
        honest=HONEST,
        seconds=chosen.seconds,
        attackers=ATTACKERS,
        idle=held["idle"],
        half=held["half-open"],
        slow=held["slow"],
        share=LEAST_SHARE,
        health=MOST_HEALTH_SECONDS,
        memory=MOST_MORE_MEMORY_MB,
    )
    print(text)
    chosen.output.write_text(text, encoding="utf-8")
    if "missed" in text:
        raise SystemExit("a goal was missed")


if __name__ == "__main__":
    main()
