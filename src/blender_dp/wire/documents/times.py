"""Times in documents: UTC, whole seconds, ending in Z."""

import re
from datetime import UTC, datetime

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", re.ASCII)


def written_time(time: datetime) -> str:
    """Write a time; the texts sort in the order of the times.

    >>> written_time(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
    '2026-11-15T12:00:00Z'
    """
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_time(text: object) -> datetime | None:
    """Read a time, with milliseconds (as browsers write them) or without; None for other texts."""
    if not isinstance(text, str) or not _WRITTEN.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
