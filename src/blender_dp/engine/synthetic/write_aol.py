"""Writer of a synthetic log in the layout of the log that AOL released."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blender_dp.core.blender import no_progress
from blender_dp.engine.synthetic.log import SyntheticLog
from blender_dp.engine.synthetic.output import (
    appearing_whole,
    in_chunks,
    layout_generator,
    require_plain_text,
    shuffled,
)
from blender_dp.engine.synthetic.write import delimited_writer

COLUMNS = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")

UNCLICKED_SHARE = 0.25
"""Searches without a click, per click."""

BLANKED_SHARE = 0.01
"""Rows whose query AOL replaced by a dash, per click; half of them have a click."""

_SCHEMA = pa.schema(
    zip(
        COLUMNS,
        (pa.int64(), pa.string(), pa.timestamp("s"), pa.int64(), pa.string()),
        strict=True,
    )
)
_FIRST_DAY = np.datetime64("2006-03-01", "s")
_DAYS = 92
_SECOND_TRY = np.timedelta64(40, "s")  # a click comes after the searches listed before it


def write_aol(
    log: SyntheticLog, path: Path, *, progress: Callable[[float], None] = no_progress
) -> None:
    """Write ``log`` as AnonID, Query, QueryTime, ItemRank, ClickURL, separated by tabs.

    Some rows have no click, and some have ``-`` for a query, as in the original. Neither is a
    record: a reader that leaves them out finds exactly the records of ``log``. Every such row
    belongs to a user who has records. The original lists its users one after the other; here they
    are interleaved.
    """
    require_plain_text(path)
    rng = layout_generator(log.seed)
    with (
        appearing_whole(path) as file,
        delimited_writer(file, COLUMNS, _SCHEMA, "\t") as writer,
    ):
        for rows, done in in_chunks(shuffled(len(log), log.seed)):
            writer.write_batch(_batch(log, rows, rng))
            progress(done)


def _batch(log: SyntheticLog, records: NDArray[np.int64], rng: np.random.Generator) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return the rows of some records, with rows that are not records before some of them."""
    other_share = UNCLICKED_SHARE + BLANKED_SHARE
    rows_of_record = 1 + (rng.random(len(records)) < other_share)
    rows = np.repeat(records, rows_of_record)
    is_record = np.zeros(len(rows), dtype=bool)
    is_record[np.cumsum(rows_of_record) - 1] = True
    is_blanked = ~is_record & (rng.random(len(rows)) < BLANKED_SHARE / other_share)
    is_clicked = is_record | (is_blanked & (rng.random(len(rows)) < 0.5))
    time = np.repeat(_times(len(records), rng), rows_of_record) + is_record * _SECOND_TRY
    query, url = log.query[rows], log.url[rows]
    clicked = pa.array(is_clicked)
    return pa.record_batch(
        [
            pa.array(log.user[rows]),
            pc.replace_with_mask(log.query_names(query), pa.array(is_blanked), pa.scalar("-")),
            pa.array(time),
            pa.array(url + 1, mask=~is_clicked),
            pc.if_else(clicked, log.url_names(query, url), None),
        ],
        schema=_SCHEMA,
    )


def _times(count: int, rng: np.random.Generator) -> NDArray[np.datetime64]:
    """Draw times of searches: all days equally likely, most often at eight in the evening."""
    hour = 3600
    day = rng.integers(0, _DAYS, count) * (24 * hour)
    second = rng.triangular(0, 20 * hour, 23 * hour, count).astype(np.int64)
    return _FIRST_DAY + (day + second).astype("timedelta64[s]")
