"""Log for the measurements of counting: 20 million rows of 500,000 users, as TSV and Parquet."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from benchmarks.measure import run_python

LOGS = Path(__file__).parent / "logs"
ROWS, USERS, QUERIES = 20_000_000, 500_000, 2_000_000


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
    if not path.exists():
        LOGS.mkdir(exist_ok=True)
        table = _table()
        partial = path.with_suffix(".partial")
        if suffix == "parquet":
            pq.write_table(table, partial, row_group_size=500_000)
        else:
            with partial.open("wb") as file:
                file.write(b"user\tquery\turl\n")
                options = pc.WriteOptions(
                    include_header=False, delimiter="\t", quoting_style="none"
                )
                pc.write_csv(table, file, options)
        partial.rename(path)


def _table() -> pa.Table:
    rng = np.random.default_rng(1)
    user = rng.integers(0, USERS, ROWS)
    cdf = np.cumsum(np.arange(1.0, QUERIES + 1) ** -0.9)
    query = np.searchsorted(cdf, rng.random(ROWS) * cdf[-1])
    url = np.minimum(rng.geometric(0.6, ROWS) - 1, 8)
    pairs, pair = np.unique(query * 9 + url, return_inverse=True)
    return pa.table(
        {
            "user": _named(user, (f"user{i:07d}" for i in range(USERS))),
            "query": _named(query, (f"query number {i}" for i in range(QUERIES))),
            "url": _named(pair, (f"www.site{i}.example/page" for i in pairs)),
        }
    )


def _named(codes: np.ndarray, names: object) -> pa.Array:
    words = pa.array(list(names))  # type: ignore[call-overload]
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), words).cast(pa.string())


if __name__ == "__main__":
    main(*sys.argv[1:])
