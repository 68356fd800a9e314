"""``blender-dp run``: makes a report from a log, with both groups simulated."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.analysis.files import run_facts, write_result
from blender_dp.cli.guard_rails import require_meant, stop_unless
from blender_dp.cli.log_options import LogOptions, MachineOptions
from blender_dp.cli.options import Flag, Output, Promise, ReaderWords, RelayOptions
from blender_dp.cli.outputs import say_unused, show_result
from blender_dp.cli.terminal import shown_progress
from blender_dp.engine.run import run as run_log
from blender_dp.pages.outputs import FILES
from blender_dp.pages.words import Words
from blender_dp.wire.documents.staging import staged_directory


def run(
    log: Annotated[list[str], Parameter(negative="")],
    /,
    *,
    output: Output,
    parameters: Promise,
    opt_in: float | None = None,
    relay: RelayOptions = RelayOptions(),  # noqa: B008 - frozen
    known: Path | None = None,
    log_options: LogOptions = LogOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
    timings: Flag = False,
    words: ReaderWords = Words(),  # noqa: B008 - frozen
    overwrite: Flag = False,
    yes: Flag = False,
    json: Flag = False,
) -> None:
    """Find the popular records of a log of raw records; both groups are simulated.

    Writes records and queries (Parquet and CSV), head_list.json, release.json, run.json and
    report.html. Exit status: 0 when written, 2 for a wrong argument or bad input.

    Parameters
    ----------
    log
        Files, folders or patterns: AOL, Yandex, CSV, TSV, JSON, Parquet, Arrow or ORC, also packed;
        - for standard input; FILE::TABLE for a table of SQLite or DuckDB.
    output
        Directory to make for the results.
    opt_in
        Share of the users who opted in, such as 0.05; or use --group.
    known
        Records that are public already: the release.json of an earlier release, or a CSV file with
        the columns query and url, or query alone. They need not be discovered again.
    timings
        Add times, memory and the size of the log to run.json; they are not private: do not publish
        them.
    overwrite
        Replace an earlier result in the same place, once the new one is complete.
    yes
        Go on in spite of doubts: ε above 10, δ above 1/(10·users), or too few opt-in users to list
        a record that one in ten has. Without it nothing is drawn, and the status is 2.
    json
        Print a summary for a program instead of the table.
    """
    require_meant(parameters, yes=yes)
    public = log_options.known(known)
    with (
        staged_directory(output, overwrite=overwrite, replaceable=FILES) as partial,
        shown_progress() as progress,
    ):
        result = run_log(
            log_options.log(log),
            parameters,
            opt_in=opt_in,
            relay=relay.rules(),
            known=public,
            seed=machine.seed,
            workspace=machine.workspace(partial, progress),
            consider=stop_unless(yes),
        )
        progress.step("write the results")
        facts = run_facts(result, synthetic=False, timings=timings) | words.facts()
        write_result(partial, result.blender, result.certificate, facts=facts)
    if public and not result.known_records:
        say_unused(public)
    show_result(result.blender, output, words, as_json=json)
