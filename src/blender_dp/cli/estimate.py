"""``blender-dp estimate``: counts the items in files of reports."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.options import Flag, Output
from blender_dp.cli.spark_estimate import count_on_spark
from blender_dp.cli.terminal import RESULTS, print_json
from blender_dp.core.errors import BlenderError
from blender_dp.engine.choice import EngineName, is_remote
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.estimates import client_document
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.reports.report import count_reports, together


def estimate(
    head_list: Path,
    reports: Annotated[list[str], Parameter(negative="")],
    /,
    *,
    output: Output,
    engine: EngineName = "auto",
    master: str | None = None,
    json: Flag = False,
) -> None:
    """Count how often private reports name each item; blend turns the counts into estimates.

    Exit status: 0 when written, 2 if a file is invalid: one report for another head list, or
    without a cell of this one, refuses its whole file.

    Parameters
    ----------
    head_list
        The published head_list.json that the reports were made for.
    reports
        Files of reports, .parquet or .jsonl, one report from each enrolled client; with Spark
        also paths such as hdfs:// or s3a://.
    output
        File to write, such as client_estimates.json.
    engine
        Engine that counts; auto is Spark for paths that only Spark reads.
    master
        Spark's master, such as spark://host:7077. Default: this machine, or spark-submit's.
    json
        Print a summary for a program.
    """
    published = read_head_list(head_list)
    if engine == "spark" or (engine == "auto" and any(is_remote(path) for path in reports)):
        counts = count_on_spark(reports, published, master)
    else:
        counts = together([count_reports(Path(path), published) for path in reports])
    total = counts.cell_reports + counts.query_reports
    if total < 2:
        raise BlenderError(f"two reports or more are needed for an estimate; got {total}")
    write_document(output, client_document(published, counts))
    if json:
        print_json({"output": str(output), "reports": total})
    else:
        RESULTS.print(f"{output}: {total:,} reports")
