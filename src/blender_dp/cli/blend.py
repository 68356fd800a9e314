"""``blender-dp blend``: blends both sides' files into one result."""

from pathlib import Path

from blender_dp.analysis.files import write_result
from blender_dp.cli.options import Flag, Output, ReaderWords
from blender_dp.cli.outputs import blended_result, show_result
from blender_dp.core.certificate.certificate import require_kept
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.pages.outputs import FILES
from blender_dp.pages.words import Words
from blender_dp.wire.documents.staging import staged_directory


def blend(
    head_list: Path,
    opt_in_estimates: Path,
    client_estimates: Path,
    /,
    *,
    output: Output,
    words: ReaderWords = Words(),  # noqa: B008 - frozen
    overwrite: Flag = False,
    json: Flag = False,
) -> None:
    """Blend the opt-in users' and the clients' estimates and write the same files as run.

    Exit status: 0 when written, 2 if the files do not belong together or were changed.

    Parameters
    ----------
    head_list
        The published head_list.json.
    opt_in_estimates
        opt_in_estimates.json of the head-list command.
    client_estimates
        File of the estimate command.
    output
        Directory to make for the results.
    overwrite
        Replace an earlier result in the same place, once the new one is complete.
    json
        Print a summary for a program instead of the table.
    """
    result = blended_result(head_list, opt_in_estimates, client_estimates)
    certificate = require_kept(certify_curated(result.curated))
    with staged_directory(output, overwrite=overwrite, replaceable=FILES) as partial:
        write_result(partial, result, certificate, facts=words.facts())
    show_result(result, output, words, as_json=json)
