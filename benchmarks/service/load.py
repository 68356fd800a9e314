"""Load on one address of loopback, by wrk: bounded in connections and in time."""

import json
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).parent / "load.lua"
THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a run of the load saw."""

    requests: int
    seconds: float
    refused: int
    broken: int
    p50: float
    """Milliseconds."""
    p99: float
    """Milliseconds."""
    cpu_seconds: float
    """Processor time of wrk."""

    @property
    def per_second(self) -> float:
        """Requests answered as asked."""
        return (self.requests - self.refused) / self.seconds


def loaded(url: str, bodies: Path, *, connections: int, seconds: int, pause: int = 0) -> Measured:
    """Send bodies, one per line, over this many connections, each with pauses of milliseconds."""
    if shutil.which("wrk") is None:
        raise SystemExit("the load is made by wrk; on Debian: apt-get install wrk")
    command = ["wrk", f"-t{THREADS}", f"-c{connections}", f"-d{seconds}", "--timeout", "30s"]
    command += ["-s", str(SCRIPT), url, "--", str(bodies), str(THREADS), str(pause)]
    before = _ended_seconds()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    last = done.stdout.strip().splitlines()[-1]
    return Measured(**json.loads(last), cpu_seconds=_ended_seconds() - before)


def _ended_seconds() -> float:
    """Return the processor time of all programs that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
