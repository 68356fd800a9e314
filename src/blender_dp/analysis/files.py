"""Files of a run, written from Python and by commands alike."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blender_dp.core.blender import BlenderResult
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.engine.run import LogRun
from blender_dp.pages.outputs import TIMINGS, write_outputs


def time_now() -> str:
    """Return the time as documents state it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write_result(
    directory: Path,
    result: BlenderResult,
    certificate: ListCertificate,
    *,
    facts: dict[str, Any],
    created: str | None = None,
) -> None:
    """Write every file of a result into ``directory``; made now, unless a time is given."""
    write_outputs(directory, result, certificate, created=created or time_now(), facts=facts)


def run_facts(result: LogRun, *, synthetic: bool, timings: bool = False) -> dict[str, Any]:
    """Return the content of run.json: how a run was made.

    Args:
        result: The run.
        synthetic: Whether its log is synthetic.
        timings: Whether to add times, memory and the reason for the engine, which names the size of
            the log. They depend on the raw rows without noise.
    """
    facts: dict[str, Any] = {
        "synthetic": synthetic,
        "seed": result.seed,
        "opt_in": result.opt_in,
        **({"relay": asdict(result.relay)} if result.relay.share else {}),
        **({"known_records": result.known_records} if result.known_records else {}),
        "input": {"format": str(result.format), "files": list(result.files)},
        "engine": result.engine.name,
    }
    if timings:
        facts[TIMINGS] = {
            "remark": "These depend on the raw log without noise. Remove them before you publish.",
            "seconds": {step: round(seconds, 3) for step, seconds in result.seconds.items()},
            "memory_limit_bytes": result.memory_limit,
            "peak_memory_bytes": result.peak_memory,
            "engine_reason": result.engine.reason,
        }
    return facts
