"""Interruption of a DuckDB query by Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt when Ctrl-C interrupts a query.

    DuckDB 2.0 raises a plain RuntimeError instead, and in some cases its own exception.
    """
    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None
