"""Output of a whole result, shared by commands: writes it, shows it and prints its place."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blender_dp.cli.terminal import RESULTS, print_json, print_ranking, say
from blender_dp.core.blender import BlenderResult, finish
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.population import ReportingClients
from blender_dp.engine.released_tables import query_table
from blender_dp.engine.run import RunResult
from blender_dp.pages.outputs import REPORT, TIMINGS, notes, write_outputs
from blender_dp.pages.words import Words
from blender_dp.wire.published.estimates import read_clients, read_opt_in
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.published.release import user_counts


def write_result(
    directory: Path, result: BlenderResult, certificate: ListCertificate, *, facts: dict[str, Any]
) -> None:
    """Write every file of a result into ``directory``."""
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    write_outputs(directory, result, certificate, created=created, facts=facts)


def blended_result(
    head_list: Path, opt_in_estimates: Path, client_estimates: Path
) -> BlenderResult:
    """Blend both sides' files; refuse them if they do not belong together."""
    published = read_head_list(head_list)
    curated = read_opt_in(opt_in_estimates, published).estimate()
    clients = ReportingClients(
        counts=read_clients(client_estimates, published),
        records_per_client=curated.parameters.records_per_client,
    )
    return finish(curated, clients)


def run_facts(result: RunResult, *, synthetic: bool, timings: bool = False) -> dict[str, Any]:
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


def show_result(
    result: BlenderResult, output: Path, words: Words | None = None, *, as_json: bool
) -> None:
    """Print the ranking, or a summary that a program can read."""
    for note in notes(result):
        say(note)
    if not result.private:
        say("Made with a seed: an experiment, not private; do not publish it.")
    if as_json:
        print_json(
            {
                "output": str(output),
                "private": result.private,
                "queries": len(result.head_list.queries),
                "records": len(result.head_list.records()),
            }
        )
        return
    users = sum(user_counts(result).values())
    print_ranking(query_table(result), users, (words or Words()).query_name or "query")
    RESULTS.print(f"\nreport: {output / REPORT}")
