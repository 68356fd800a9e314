"""Bundles: many encrypted reports of one campaign in one row, in the order of their bytes.

A row for each report would touch a page of the database for each report, the more pages the more
reports there are. The reports that are written together are one bundle, under a random number, so
that no row says when it came. Sixteen small bundles of about one size become one: after a while
each report lies among thousands, and no row says which of them came together.
"""

import os
from collections.abc import Collection, Sequence

from blender_dp.server.databases.statements import Row, Statements, first
from blender_dp.wire.reports.packed_items import pieces

_FAN = 16
"""Bundles of one level that become one of the next."""
_TOP = 3
"""Level of bundles that stay as they are: they have at least 16³ reports."""
_ID_BYTES = 16
_AT_LEVEL = "FROM bundles WHERE campaign = $1 AND level = $2"


async def put_bundle(tx: Statements, campaign: int, reports: Collection[bytes]) -> None:
    """Store reports of one length, together with others if there are sixteen small bundles."""
    level = level_of(len(reports))
    if level < _TOP and await _count(tx, campaign, level) >= _FAN - 1:
        others = await tx.rows(f"SELECT encrypted {_AT_LEVEL}", campaign, level)
        await tx.run(f"DELETE {_AT_LEVEL}", campaign, level)
        length = len(next(iter(reports)))
        await put_bundle(tx, campaign, [*reports, *_unpacked(others, length)])
        return
    await tx.run(
        "INSERT INTO bundles (campaign, level, id, encrypted) VALUES ($1, $2, $3, $4)",
        *(campaign, level, os.urandom(_ID_BYTES), b"".join(sorted(reports))),
    )


async def bundled_reports(tx: Statements, campaign: int, length: int) -> Sequence[bytes]:
    """Return all reports of a campaign, in no order.

    Args:
        tx: The transaction.
        campaign: Its number.
        length: Bytes of every report.
    """
    rows = await tx.rows("SELECT encrypted FROM bundles WHERE campaign = $1", campaign)
    return _unpacked(rows, length)


async def _count(tx: Statements, campaign: int, level: int) -> int:
    found = await first(tx, f"SELECT count(*) {_AT_LEVEL}", campaign, level)
    assert found is not None  # a count has a row
    return int(found[0])


def _unpacked(rows: Sequence[Row], length: int) -> list[bytes]:
    return [one for row in rows for one in pieces(row[0], length)]


def level_of(count: int) -> int:
    """Return the level of a bundle of so many reports."""
    return min((count.bit_length() - 1) // 4, _TOP)
