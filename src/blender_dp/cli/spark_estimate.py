"""Counting of reports on Spark: passes the rules of the wire format to the engine."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts
from blender_dp.engine.duckdb.tables import default_memory_limit
from blender_dp.engine.spark.session import SparkSettings, opened_session, require_spark
from blender_dp.wire.reports.report import codec_of
from blender_dp.wire.reports.report_files import format_of, shared_fields


def count_on_spark(
    paths: Sequence[Path | str], head_list: HeadList, master: str | None
) -> ReportCounts:
    """Count the items that all files' reports name, on Spark."""
    require_spark()
    # Imported here, because it is optional and loads slowly.
    from blender_dp.engine.spark.reports import (  # noqa: PLC0415
        PackedForm,
        ReportForm,
        count_spark_reports,
    )

    kinds = {format_of(Path(path)) for path in paths}
    if len(kinds) > 1:
        raise BlenderError("give either Parquet files or JSON lines to --engine spark, not both")
    packed = {
        question: PackedForm(
            size=packing.size,
            subset_size=packing.subset_size,
            bits_per_item=packing.bits_per_item,
            is_bitmap=packing.is_bitmap,
            length=packing.length,
        )
        for question, packing in codec_of(head_list).packings(head_list).items()
    }
    form = ReportForm(
        kind=kinds.pop(),
        shared=shared_fields(head_list),
        packed={str(question): packing for question, packing in packed.items()},
        cells=head_list.cells.cell_count,
    )
    settings = SparkSettings(master=master, memory_limit=default_memory_limit())
    with opened_session(settings) as spark:
        found = count_spark_reports(spark, paths, form)
    query = found.get("query")
    no_reports = np.zeros(head_list.cells.query_count, dtype=np.int64)
    return ReportCounts(
        cells=np.array(found["record"].items, dtype=np.int64),
        cell_reports=found["record"].reports,
        queries=no_reports if query is None else np.array(query.items, dtype=np.int64),
        query_reports=0 if query is None else query.reports,
    )
