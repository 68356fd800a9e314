"""Known list read from a file: an earlier release, or a table of records from elsewhere."""

import csv
import re
from dataclasses import replace
from pathlib import Path

from blender_dp.core.curator.listing_rule import half_listed
from blender_dp.core.errors import InputError
from blender_dp.core.estimation.release import Release
from blender_dp.core.head_list.head_list import NO_URL, Record
from blender_dp.core.head_list.known_list import MOST_KNOWN, NOTHING_KNOWN, KnownList
from blender_dp.wire.documents.document import MOST_BYTES
from blender_dp.wire.published.release import read_release


def read_known(path: Path | str | None, *, user: str = "user") -> KnownList:
    """Read the records that are public already; nothing is known without a path.

    Args:
        path: ``release.json`` of an earlier release, or a CSV file with the columns query and url;
            query alone if records have one level.
        user: The column with the user's id in the log. A table with such a column is refused: it
            is a log of raw records.
    """
    if path is None:
        return NOTHING_KNOWN
    path = Path(path)
    if path.suffix == ".json":
        return replace(known_from(read_release(path)), name=str(path))
    return KnownList.of(_table(path, user), name=str(path))


def known_from(release: Release) -> KnownList:
    """Return the listed records of a release, and how it listed; an experiment's are marked.

    Of a release that lists queries, those are known.
    """
    listed = (row for rows in release.listed_records().values() for row in rows)
    records = [Record(row.query, row.url) for row in listed if row.query and row.url is not None]
    queries = [Record(row.query, NO_URL) for row in release.listed_queries() if row.query]
    return KnownList.of(
        records or queries,
        private=release.private,
        half_listed=half_listed(release.discovery),
        of_queries=bool(queries) and not records,
    )


def _table(path: Path, user: str) -> list[Record]:
    """Read a CSV file; columns other than query and url are ignored."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(path, f"must be at most {MOST_BYTES >> 20} MiB")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _records(path, csv.DictReader(file, strict=True), user)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(path, "must be CSV in UTF-8") from None


def _records(path: Path, table: "csv.DictReader[str]", user: str) -> list[Record]:
    names = table.fieldnames or ()
    if _folded(user) in map(_folded, names):
        raise InputError(path, "must not have the log's column of users: a raw log is not public")
    if "query" not in names:
        rule = "must name the columns query and url, or query alone, in its first line"
        raise InputError(path, rule)
    records = []
    for row in table:
        query, url = row["query"], row["url"] if "url" in names else NO_URL
        if _is_blank(query) or _is_blank(url):
            raise InputError(
                path, "every line must have a query and a URL", where=f"line {table.line_num}"
            )
        records.append(Record(query, url))
        if len(records) > 10 * MOST_KNOWN:
            break  # refused by its number of records
    return records


def _folded(name: str) -> str:
    """Return the name of a column as a log's reader compares it."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _is_blank(text: str | None) -> bool:
    """Tell whether a text is missing or only spaces: no record of a log has such a part."""
    return text is None or not text.strip(" ")
