"""Writer of a synthetic log as a table of user, query and URL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from blender_dp.core.blender import no_progress
from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic.log import SyntheticLog
from blender_dp.engine.synthetic.output import appearing_whole, ending, in_chunks, shuffled

_COLUMNS = ("user", "query", "url")
_DELIMITERS = {".tsv": "\t", ".tsv.gz": "\t", ".csv": ",", ".csv.gz": ","}


def write_log(
    log: SyntheticLog, path: Path, *, progress: Callable[[float], None] = no_progress
) -> None:
    """Write the records of ``log`` with columns user, query and url, users interleaved.

    The end of the name chooses the format: ``.parquet``, ``.tsv`` or ``.csv``, the last two also
    compressed (``.tsv.gz``). All columns are strings.
    """
    if ending(path) not in {".parquet", *_DELIMITERS}:
        requirement = "a name ending in .parquet, .tsv, .tsv.gz, .csv or .csv.gz"
        raise ParameterError("output", requirement, path.name)
    schema = pa.schema(
        [(column, pa.string()) for column in _COLUMNS],
        metadata={"synthetic": f"shape {log.shape}, {log.users} users, seed {log.seed}"},
    )
    with appearing_whole(path) as file, _table_writer(file, ending(path), schema) as writer:
        for rows, done in in_chunks(shuffled(len(log), log.seed)):
            user, query, url = log.user[rows], log.query[rows], log.url[rows]
            columns = [log.user_names(user), log.query_names(query), log.url_names(query, url)]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            progress(done)


def delimited_writer(file: BinaryIO, columns: tuple[str, ...], schema: Any, delimiter: str) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Write the header, and return a writer of record batches below it."""
    # Written here, because pyarrow quotes every name of a header. No value needs quotes.
    file.write((delimiter.join(columns) + "\n").encode())
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="none"
    )
    return pyarrow.csv.CSVWriter(file, schema, write_options=options)


def _table_writer(file: BinaryIO, file_ending: str, schema: Any) -> Any:  # noqa: ANN401 - pyarrow is untyped
    if file_ending == ".parquet":
        return pyarrow.parquet.ParquetWriter(file, schema, compression="zstd")
    return delimited_writer(file, _COLUMNS, schema, _DELIMITERS[file_ending])
