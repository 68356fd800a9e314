"""SQL that reads lines of tab-separated values, in which a quote has no special meaning.

DuckDB accepts mixed line ends only outside its strict mode, where it drops surplus values silently.
So one extra column is declared, missing values become NULL, and a condition checks every line. The
text for NULL is a line end, which no value can contain: so only missing values become NULL, and
blank ones stay empty strings.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from blender_dp.engine.duckdb.readers.files import LONGEST_LINE_BYTES, compression_of
from blender_dp.engine.duckdb.readers.sql import file_list


def column(position: int) -> str:
    """Return the name of the column at a position, counted from 0."""
    return f"c{position}"


def columns_option(width: int) -> str:
    """Return DuckDB's description of ``width`` text columns."""
    return "{" + ", ".join(f"'{column(i)}': 'VARCHAR'" for i in range(width)) + "}"


def read_tab_separated(
    files: Sequence[Path], *, select: str, width: int, is_wrong: str, has_header: bool = True
) -> str:
    """Return a SELECT over the lines of all files, in order, that fails at a wrong line.

    Args:
        files: Text files, each compressed or not.
        select: The expressions to select, written with :func:`column`.
        width: Number of columns to read; further values of a line are dropped.
        is_wrong: The condition, never NULL, under which a line is refused.
        has_header: Whether to skip the first line of every file.
    """
    return " UNION ALL ".join(
        # Columns are numbered, paths are quoted by file_list, and conditions are our own.
        f"SELECT {select} FROM read_csv({file_list(run)}, delim='\t', quote='', escape='', "  # noqa: S608
        f"header={has_header}, auto_detect=false, strict_mode=false, null_padding=true, "
        f"nullstr=E'\\n', compression='{compression.sql_name}', columns={columns_option(width)}, "
        f"max_line_size={LONGEST_LINE_BYTES}, hive_partitioning=false) "
        f"WHERE CASE WHEN {is_wrong} THEN error('a row is not as it should be') ELSE true END"
        for compression, run in groupby(files, compression_of)
    )
