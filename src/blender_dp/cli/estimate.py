"""``blender-dp estimate``: what the reports say together."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.options import Flag, Output
from blender_dp.cli.terminal import RESULTS, print_json
from blender_dp.core.errors import BlenderError
from blender_dp.wire.documents import write_document
from blender_dp.wire.estimates import client_document
from blender_dp.wire.head_list import read_head_list
from blender_dp.wire.report import count_reports, together


def estimate(
    head_list: Path,
    reports: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    output: Output,
    json: Flag = False,
) -> None:
    """Count private reports by what they name; blend turns the counts into estimates.

    Exit status: 0 when written, 2 if a file is not what it should be: a report that was made
    for another head list, or names no cell of this one, refuses its whole file.

    Parameters
    ----------
    head_list
        The published head_list.json that the reports were made for.
    reports
        Files of reports, .parquet or .jsonl, one report from each enrolled client.
    output
        File to write, such as client_estimates.json.
    json
        Print a summary for a program.
    """
    published = read_head_list(head_list)
    counts = together([count_reports(path, published) for path in reports])
    total = counts.cell_reports + counts.query_reports
    if total < 2:
        raise BlenderError(f"two reports or more are needed for an estimate; got {total}")
    write_document(output, client_document(published, counts))
    if json:
        print_json({"output": str(output), "reports": total})
    else:
        RESULTS.print(f"{output}: {total:,} reports")
