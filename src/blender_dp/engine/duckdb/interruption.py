"""Ctrl-C while the database works."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C during a query be what it is elsewhere.

    DuckDB 2.0 raises a plain RuntimeError then, and its own exception in some other cases.
    """
    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None
