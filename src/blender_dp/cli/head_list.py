"""``blender-dp head-list``: runs only the curator's side."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.guard_rails import require_meant, stop_unless
from blender_dp.cli.log_options import LogOptions, MachineOptions
from blender_dp.cli.options import Flag, Output, Promise
from blender_dp.cli.outputs import say_unused
from blender_dp.cli.terminal import RESULTS, print_json, say, shown_progress
from blender_dp.core.blender import PRESETS, Curated, curate, require_known
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated, certify_plan
from blender_dp.core.certificate.doubts import doubts_about
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.engine.population.one_side import opened_side
from blender_dp.pages.outputs import FILES
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.documents.staging import staged_directory
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.estimates import opt_in_document
from blender_dp.wire.published.head_list import head_list_digest, head_list_document

CLIENTS_A_USER = 19
"""Expected clients per opt-in user."""


def head_list(
    log: Annotated[list[str], Parameter(negative="")],
    /,
    *,
    output: Output,
    parameters: Promise,
    clients: int | None = None,
    known: Path | None = None,
    log_options: LogOptions = LogOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
    overwrite: Flag = False,
    yes: Flag = False,
    json: Flag = False,
) -> None:
    """Find the head list in the raw records of opt-in users, and estimate it from them.

    Writes head_list.json, to publish to every device, opt_in_estimates.json, for blend, and
    certificate.json, with the privacy cost of both.
    All users of the log count as opt-in users, or with --group those that it marks.
    Exit status: 0 when written, 2 for a wrong argument or bad input.

    Parameters
    ----------
    log
        Files, folders or patterns with the opt-in users' records.
    output
        Directory to make for the three files.
    clients
        Approximate number of clients; decides how many of them report only the query.
        Default: 19 per opt-in user, as if 5 % of all users had opted in.
    known
        Records that are public already: the release.json of an earlier release, or a CSV file with
        the columns query and url, or query alone. They need not be discovered again.
    overwrite
        Replace an earlier result in the same place. Each run spends the promise again.
    yes
        Go on in spite of doubts: ε above 10, δ above 1/(10·users), or too few opt-in users to list
        a record that one in ten has. Without it nothing is drawn, and the status is 2.
    json
        Print a summary for a program.
    """
    require_meant(parameters, yes=yes)
    steps = PRESETS[parameters.preset]
    steps.require_provable(parameters)
    require_kept(certify_plan(parameters))
    if clients is not None and clients < 0:
        raise ParameterError("clients", "0 or more", clients)
    opt_in_log = log_options.log(log)
    public = log_options.known(known)
    require_known(parameters, public)
    randomness = machine.randomness()
    with (
        staged_directory(output, overwrite=overwrite, replaceable=FILES) as partial,
        shown_progress() as progress,
    ):
        side = opened_side(
            opt_in_log,
            "opt-in",
            randomness,
            machine.workspace(partial, progress),
            records_per_user=parameters.records_per_optin_user,
            all_rows=steps.asks_all_rows,
        )
        with side as users:
            doubts = doubts_about(
                parameters,
                opt_in_users=users.size,
                users=users.size + (clients or 0),
                has_known_list=bool(public),
            )
            stop_unless(yes)(doubts)
            expected = CLIENTS_A_USER * users.size if clients is None else clients
            curated = curate(
                users,
                parameters,
                randomness,
                clients=expected,
                known=public,
                progress=progress.step,
            )
        _write(partial, curated)
    for doubt in doubts:
        say(doubt)
    if not public.serves(curated.head_list):
        say_unused(public)
    _print_summary(output, curated.head_list, json=json)


def _print_summary(output: Path, found: HeadList, *, json: bool) -> None:
    if json:
        summary = {"queries": len(found.queries), "records": len(found.records())}
        print_json({"output": str(output), "head_list": head_list_digest(found), **summary})
    else:
        listed = f"{len(found.queries)} queries, {len(found.records())} records"
        RESULTS.print(f"{output / 'head_list.json'}: {listed}")


def _write(directory: Path, curated: Curated) -> None:
    """Write the list, the opt-in users' estimates and the certificate."""
    certificate = require_kept(certify_curated(curated))
    write_document(directory / "certificate.json", certificate_document(certificate))
    write_document(directory / "head_list.json", head_list_document(curated.head_list))
    write_document(directory / "opt_in_estimates.json", opt_in_document(curated))
