"""Report ids that left the table's tree for bundles, so that the tree stays small.

Ids are random, so each new one changes another page of a tree: the larger the tree, the more pages
a transaction writes. The tree therefore keeps the newest ids only. When they are many they move, in
the transaction that makes them many, into a run of bundles that never change again.

Which bundle may hold an id is known in memory (:mod:`.id_index`), derived from the file: what a
transaction sees there and the index lacks is read first, whichever process wrote it. A run that was
read in the transaction that moved it stays in the index, if that transaction fails.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Lock

import numpy as np

from blender_dp.service.http.reports.checked_reports import TAG_BYTES
from blender_dp.service.storage.sqlite.id_index import PLACE_BYTES, RUN_BYTES, IdIndex
from blender_dp.wire.reports.packed_items import pieces
from blender_dp.wire.reports.service_report import ID_BYTES

MOST_RECENT = 1 << 16
"""Most ids of a campaign in the tree; as many move at once."""
_PAIR_BYTES = ID_BYTES + TAG_BYTES
_BUNDLE_PAIRS = 40
"""Pairs of id and tag in a bundle: as many as SQLite keeps on one page, with the bundle's key."""
_LAST_PLACE = b"\xff" * PLACE_BYTES

_RUNS = f"""
WITH RECURSIVE run (first) AS (
SELECT min(bundle) FROM older_report_ids WHERE campaign = $campaign
UNION ALL
SELECT (SELECT min(bundle) FROM older_report_ids WHERE campaign = $campaign
AND bundle > CAST(substr(first, 1, {RUN_BYTES}) || $last AS BLOB)) FROM run WHERE first IS NOT NULL
) SELECT substr(first, 1, {RUN_BYTES}) FROM run WHERE first IS NOT NULL
"""  # noqa: S608 - our own number


class OlderIds:
    """The ids of all campaigns that are no longer in the tree, for the threads of a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._indexes: dict[int, IdIndex] = {}
        self._recent: dict[int, int] = {}
        """How many ids of each campaign are in the tree, as far as this process knows."""

    def tags(self, connection: sqlite3.Connection, campaign: int, ids: bytes) -> dict[bytes, bytes]:
        """Return the tags of those ids that are in bundles."""
        values = {"campaign": campaign, "last": _LAST_PLACE}
        runs = [run for (run,) in connection.execute(_RUNS, values)]
        if not runs:
            return {}
        with self._lock:
            found = list(self._current(connection, campaign, runs).find(ids))
        asked = pieces(ids, ID_BYTES)
        tags: dict[bytes, bytes] = {}
        for position, bundle in found:
            wanted = asked[position]
            tags.update(
                (id_, tag) for id_, tag in _pairs(connection, campaign, bundle) if id_ == wanted
            )
        return tags

    def _current(
        self, connection: sqlite3.Connection, campaign: int, runs: Sequence[bytes]
    ) -> IdIndex:
        """Return an index that lacks none of these runs, which the transaction sees."""
        if campaign not in self._indexes:
            self._indexes[campaign] = IdIndex()
        index = self._indexes[campaign]
        for run in runs:
            if run not in index:
                found = connection.execute(
                    "SELECT bundle, reports FROM older_report_ids"
                    " WHERE campaign = ? AND bundle BETWEEN ? AND ?",
                    (campaign, run + bytes(PLACE_BYTES), run + _LAST_PLACE),
                ).fetchall()
                _add(index, run, found)
        return index

    def count(self, connection: sqlite3.Connection, campaign: int, inserted: int) -> None:
        """Count ids that were inserted into the tree; if they are many now, move them."""
        recent = self._recent.get(campaign, MOST_RECENT) + inserted
        if recent > MOST_RECENT:  # as far as is known: another process may have moved some
            (recent,) = connection.execute(
                "SELECT count(*) FROM report_ids WHERE campaign = ?", (campaign,)
            ).fetchone()
            if recent > MOST_RECENT:
                recent -= self._move(connection, campaign)
        self._recent[campaign] = recent

    def _move(self, connection: sqlite3.Connection, campaign: int) -> int:
        """Move the first ids of the tree, and return how many."""
        found = connection.execute(
            "SELECT id, tag FROM report_ids WHERE campaign = ? ORDER BY id LIMIT ?",
            (campaign, MOST_RECENT),
        ).fetchall()
        run = os.urandom(RUN_BYTES)
        packed = b"".join(chain.from_iterable(found))
        bundles = [
            (run + place.to_bytes(PLACE_BYTES, "big"), reports)
            for place, reports in enumerate(pieces(packed, _BUNDLE_PAIRS * _PAIR_BYTES))
        ]
        connection.executemany(
            "INSERT INTO older_report_ids (campaign, bundle, reports) VALUES (?, ?, ?)",
            ((campaign, *bundle) for bundle in bundles),
        )
        connection.execute(
            "DELETE FROM report_ids WHERE campaign = ? AND id <= ?", (campaign, found[-1][0])
        )
        return len(found)

    def recount(self) -> None:
        """Count the trees' ids again: a transaction that failed took some back."""
        self._recent.clear()

    def forget_ended(self, connection: sqlite3.Connection) -> None:
        """Give up the memory of campaigns that have no bundle any more."""
        with self._lock:
            for campaign in list(self._indexes):
                if not connection.execute(
                    "SELECT 1 FROM older_report_ids WHERE campaign = ? LIMIT 1", (campaign,)
                ).fetchone():
                    del self._indexes[campaign]


def _add(index: IdIndex, run: bytes, bundles: list[tuple[bytes, bytes]]) -> None:
    places = [int.from_bytes(bundle[RUN_BYTES:], "big") for bundle, _ in bundles]
    counts = [len(reports) // _PAIR_BYTES for _, reports in bundles]
    packed = np.frombuffer(b"".join(reports for _, reports in bundles), dtype=np.uint8)
    ids = packed.reshape(-1, _PAIR_BYTES)[:, :ID_BYTES].tobytes()
    index.add(run, ids, np.repeat(np.array(places, dtype=np.int64), counts))


def _pairs(
    connection: sqlite3.Connection, campaign: int, bundle: bytes
) -> Iterator[tuple[bytes, bytes]]:
    """Give the ids of a bundle with their tags; none if it is not in this transaction's view."""
    for (reports,) in connection.execute(
        "SELECT reports FROM older_report_ids WHERE campaign = ? AND bundle = ?",
        (campaign, bundle),
    ):
        for pair in pieces(reports, _PAIR_BYTES):
            yield pair[:ID_BYTES], pair[ID_BYTES:]
