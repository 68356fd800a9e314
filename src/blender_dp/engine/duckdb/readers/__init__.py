"""Readers of search logs, one file per format: each turns files into rows of user, query and URL.

``open_log`` finds the files, works out their format and returns a :class:`LogSource`, whose
``sql`` can be run any number of times. DuckDB reads the files only then, so an invalid row makes
a query fail midway; ``explain_failure`` finds the file and the line.
"""

from blender_dp.engine.duckdb.readers.failures import explain_failure
from blender_dp.engine.duckdb.readers.files import find_log_files
from blender_dp.engine.duckdb.readers.opening import open_log, open_table
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat, LogSource
from blender_dp.engine.duckdb.readers.unpacking.stand_ins import StandIns

__all__ = [
    "LogColumns",
    "LogFormat",
    "LogSource",
    "StandIns",
    "explain_failure",
    "find_log_files",
    "open_log",
    "open_table",
]
