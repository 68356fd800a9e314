"""Logs for the measurements of counting: 20 million rows of 500,000 users, in four kinds.

``parquet`` has users in no order and short strings, and ``tsv`` is the same log as text.
``ordered.parquet`` has users in order, ``long.parquet`` strings of about 120 and 220 characters.
"""

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from benchmarks.measure import run_python

LOGS = Path(__file__).parent / "logs"
ROWS, USERS, QUERIES = 20_000_000, 500_000, 2_000_000
PART_ROWS = 500_000


def big_log(suffix: str) -> Path:
    """Return the log, made once and kept, in a process of its own.

    A child's peak memory counts what its parent held when it was started.
    """
    path = LOGS / f"log-{ROWS}.{suffix}"
    if not path.exists():
        run_python("-m", "benchmarks.big_log", suffix)
    return path


def main(suffix: str) -> None:
    """Make the log."""
    path = LOGS / f"log-{ROWS}.{suffix}"
    if path.exists():
        return
    LOGS.mkdir(exist_ok=True)
    partial = path.with_suffix(".partial")
    parts = _parts(is_ordered=suffix.startswith("ordered"), is_long=suffix.startswith("long"))
    if suffix.endswith("parquet"):
        first = next(parts)
        with pq.ParquetWriter(partial, first.schema) as writer:
            for part in chain([first], parts):
                writer.write_table(part, row_group_size=PART_ROWS)
    else:
        options = pc.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
        with partial.open("wb") as file:
            file.write(b"user\tquery\turl\n")
            for part in parts:
                pc.write_csv(part, file, options)
    partial.rename(path)


def _parts(*, is_ordered: bool, is_long: bool) -> Iterator[pa.Table]:
    rng = np.random.default_rng(1)
    user = rng.integers(0, USERS, ROWS)
    if is_ordered:
        user.sort()
    cdf = np.cumsum(np.arange(1.0, QUERIES + 1) ** -0.9)
    query = np.searchsorted(cdf, rng.random(ROWS) * cdf[-1])
    url = np.minimum(rng.geometric(0.6, ROWS) - 1, 8)
    pairs, pair = np.unique(query * 9 + url, return_inverse=True)
    words, path = (" and so on" * 10, "/and/so/on" * 20) if is_long else ("", "")
    users = pa.array([f"user{i:07d}" for i in range(USERS)])
    queries = pa.array([f"query number {i}{words}" for i in range(QUERIES)])
    urls = pa.array([f"www.site{i}.example/page{path}" for i in pairs])
    for start in range(0, ROWS, PART_ROWS):
        rows = slice(start, start + PART_ROWS)
        columns = {"user": (user, users), "query": (query, queries), "url": (pair, urls)}
        yield pa.table({name: names.take(codes[rows]) for name, (codes, names) in columns.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
