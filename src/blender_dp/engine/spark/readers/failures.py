"""Explanations of why Spark could not read a log."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.duckdb.readers.failures import check_file
from blender_dp.engine.spark.keeping import described_failures
from blender_dp.engine.spark.readers.places import LogFile


@contextmanager
def explained_failures(files: Sequence[LogFile], log_format: LogFormat) -> Iterator[None]:
    """Turn a failure of Spark into a sentence about the invalid file, if it is on this machine.

    Raises:
        InputError: A file is invalid; it was read here, up to its first error.
        BlenderError: No file is invalid.
    """
    try:
        with described_failures():
            yield
    except BlenderError:
        for file in files:
            if file.local is not None:
                check_file(file.local, log_format)
        raise


def refuse_wrong_lines(
    files: Sequence[LogFile], wrong: frozenset[str], log_format: LogFormat
) -> None:
    """Raise if files have wrong lines; name the line if the file is on this machine.

    Raises:
        InputError: With the file and the rule.
    """
    for file in files:
        if file.key in wrong:
            if file.local is not None:
                check_file(file.local, log_format)
            raise InputError(file.label, f"a line in it is not in the {log_format} format")
