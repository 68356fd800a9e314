"""Paths that only Spark reads."""

import re
from pathlib import Path

TABLE = "table:"
"""What comes before the name of a table in Spark's catalogue."""

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://?[^/]?")


def is_remote(path: str | Path) -> bool:
    """Tell whether a path has a scheme, such as hdfs:// or s3a://, or names a table."""
    text = str(path)
    return text.startswith(TABLE) or _SCHEME.match(text) is not None
