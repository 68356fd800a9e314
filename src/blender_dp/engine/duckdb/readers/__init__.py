"""One file per log format: each turns files into rows of user, query and URL.

``open_log`` finds the files, works out their format and returns a :class:`LogSource`, whose
``sql`` the engine runs as often as it likes. DuckDB reads the files only then, so a flaw in a
row shows up in the middle of a query; ``explain_failure`` says which file and line it was.
"""

from blender_dp.engine.duckdb.readers.failures import explain_failure, files_label
from blender_dp.engine.duckdb.readers.files import find_log_files
from blender_dp.engine.duckdb.readers.opening import open_log
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat, LogSource

__all__ = [
    "LogColumns",
    "LogFormat",
    "LogSource",
    "explain_failure",
    "files_label",
    "find_log_files",
    "open_log",
]
