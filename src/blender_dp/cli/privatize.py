"""``blender-dp privatize``: makes the private reports of clients."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.log_options import LogOptions, MachineOptions
from blender_dp.cli.terminal import RESULTS, print_json, shown_progress
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer, require_same_kind
from blender_dp.engine.population.one_side import opened_side
from blender_dp.engine.population.simulated_clients import (
    SimulatedClients,
    one_by_one,
    reports_one_by_one,
)
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.reports.report import report_document, write_reports


def privatize(
    head_list: Path,
    log: Annotated[list[str] | None, Parameter(negative="")] = None,
    /,
    *,
    record: tuple[str, str] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    log_options: LogOptions = LogOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
) -> None:
    """Randomise records as a client's device does: one record, or a log of many clients.

    Each call draws again and so spends a client's budget: send one report and delete the others.
    Exit status: 0 when done, 2 for a wrong argument or bad input.

    Parameters
    ----------
    head_list
        The published head_list.json.
    log
        Files, folders or patterns with the clients' raw records, to simulate them all; all users of
        the log count as clients, or with --group those that it marks.
    record
        A query and a URL: print the report that one device would send, as JSON.
    output
        File for the reports of a log, .parquet or .jsonl.
    """
    published = read_head_list(head_list)
    if record is not None and log is None:
        report = LocalRandomizer(published, randomness=machine.randomness()).report(*record)
        print_json(report_document(published, report))
    elif log is not None and record is None and output is not None:
        _privatize_log(published, log, output, log_options, machine)
    else:
        raise BlenderError("give either --record QUERY URL, or a log and --output; not both")


def _privatize_log(
    published: HeadList,
    log: list[str],
    output: Path,
    log_options: LogOptions,
    machine: MachineOptions,
) -> None:
    """Write one report for every client of a log."""
    randomness = machine.randomness()
    require_same_kind(published, randomness)
    with shown_progress() as progress:
        side = opened_side(
            log_options.log(log),
            "client",
            randomness,
            machine.workspace(None, progress),
            records_per_user=published.mechanism.records_per_client,
        )
        with side as users:
            progress.step("randomise")
            clients = SimulatedClients(users, one_by_one(randomness))
            true_counts = clients.true_counts(published)
            named = reports_one_by_one(true_counts, published, randomness)
            written = write_reports(output, published, named)
    RESULTS.print(f"{output}: {written:,} reports")
