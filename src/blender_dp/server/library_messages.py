"""JSON lines for messages of libraries, warnings and uncaught errors.

Without this they would be plain text between the service's own lines. Their message text is left
out, because it may quote a request. The place in the code is enough to find the cause.
"""

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from types import TracebackType
from typing import TextIO

from blender_dp.server.event_log import EventLog, EventLogHandler


@contextmanager
def all_lines_in(event_log: EventLog) -> Iterator[None]:
    """Write all messages of this process for standard error as lines of an event log."""

    def warn(
        message: Warning | str,  # noqa: ARG001 - may quote a request
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,  # noqa: ARG001 - Python's signature
        line: str | None = None,  # noqa: ARG001 - may quote code
    ) -> None:
        at = f"{PurePath(filename).name}:{lineno}"
        event_log.write("warning", error=category.__name__, at=at)

    def uncaught(
        _kind: type[BaseException], error: BaseException, _traceback: TracebackType | None
    ) -> None:
        event_log.failure("process", error)

    def uncaught_in_thread(given: threading.ExceptHookArgs) -> None:
        if given.exc_value is not None:
            event_log.failure("thread", given.exc_value)

    def unraisable(given: "sys.UnraisableHookArgs") -> None:
        if given.exc_value is not None:
            event_log.failure("finalizer", given.exc_value)

    handler, root = EventLogHandler(event_log), logging.getLogger()
    before = warnings.showwarning, sys.excepthook, threading.excepthook, sys.unraisablehook
    root.addHandler(handler)
    warnings.showwarning, sys.excepthook = warn, uncaught
    threading.excepthook, sys.unraisablehook = uncaught_in_thread, unraisable
    try:
        yield
    finally:
        warnings.showwarning, sys.excepthook, threading.excepthook, sys.unraisablehook = before
        root.removeHandler(handler)
