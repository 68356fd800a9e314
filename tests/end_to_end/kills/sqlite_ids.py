"""Ids of the reports that a SQLite file holds, whichever table they are in."""

import sqlite3
from contextlib import closing
from pathlib import Path

_PAIR_BYTES, _ID_BYTES = 24, 16


def stored_ids(path: Path) -> list[bytes]:
    """Return the ids in the tree and in bundles; the file must be whole."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        ids = [row[0] for row in connection.execute("SELECT id FROM report_ids")]
        for (reports,) in connection.execute("SELECT reports FROM older_report_ids"):
            starts = range(0, len(reports), _PAIR_BYTES)
            ids += [reports[start : start + _ID_BYTES] for start in starts]
    return ids
