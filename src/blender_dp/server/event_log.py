"""Event log: one line of JSON per event on standard error, without anything that a person sent."""

import asyncio
import atexit
import json
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TextIO

from blender_dp.server.unblocked_stream import UnblockedStream, standard_error

Value = str | int | float | None
_Request = tuple[str, str, int, float]
"""Method, route, status and seconds of a request whose line is not yet written."""
_OURS = __name__.partition(".")[0]


class EventLog:
    """Writes methods, route templates, statuses and types of errors; never content.

    Requests are logged from one event loop at a time.
    """

    def __init__(self, now: Callable[[], datetime], stream: TextIO | None = None) -> None:
        self._now, self._stream = now, stream or self._standard_error()
        self._lines: list[str | _Request] = []
        self._awaited: asyncio.AbstractEventLoop | None = None

    def write(self, event: str, **fields: Value) -> None:
        """Write one line."""
        line = json.dumps({"event": event, **fields}, separators=(",", ":"))
        self._lines.append(f"{self._beginning()}{line[1:]}\n")
        self._flush()

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Log a request; all its words are from closed lists, so nothing needs escaping.

        Requests that are answered together are written together, in the next turn of the loop, and
        have its time.
        """
        self._lines.append((method, route, status, seconds))
        # Which loop runs is found out once for all of them: in Python 3.11 it costs a system call.
        if self._awaited is None or self._awaited.is_closed():
            self._awaited = asyncio.get_running_loop()
            self._awaited.call_soon(self._flush)

    def failure(self, where: str, error: BaseException) -> None:
        """Log a failure: the type of the error and its place in the code, not its message.

        A message may quote what a client sent.
        """
        traceback, place = error.__traceback__, ""
        while traceback is not None:
            code = traceback.tb_frame.f_code
            place = f"{code.co_name}:{traceback.tb_lineno}"
            traceback = traceback.tb_next
        self.write("failure", where=where, error=type(error).__name__, at=place)

    def drain(self) -> None:
        """Wait a moment for the last lines to be written, for a process that is about to end."""
        if isinstance(self._stream, UnblockedStream):
            self._stream.drain()

    def _standard_error(self) -> "TextIO | UnblockedStream":
        """Return a stream that never blocks, even if standard error is a pipe without a reader."""
        descriptor = standard_error()
        if descriptor is None:
            return sys.stderr
        stream = UnblockedStream(descriptor, self._describe_lost)
        atexit.register(stream.drain)
        return stream

    def _describe_lost(self, lines: int) -> str:
        time = self._now().isoformat()[:19]
        return f'{{"time":"{time}.000Z","event":"lines-dropped","lines":{lines}}}\n'

    def _beginning(self) -> str:
        """Return the beginning of a line that is written now."""
        now = self._now()
        return f'{{"time":"{now.isoformat()[:19]}.{now.microsecond // 1000:03}Z",'

    def _flush(self) -> None:
        beginning = self._beginning()
        lines = [
            one
            if isinstance(one, str)
            else f'{beginning}"event":"request","method":"{one[0]}","route":"{one[1]}",'
            f'"status":{one[2]},"milliseconds":{round(one[3] * 1000, 2)}}}\n'
            for one in self._lines
        ]
        self._lines, self._awaited = [], None
        with suppress(OSError, ValueError):  # the reader is gone: the service continues without it
            self._stream.write("".join(lines))
            self._stream.flush()


class EventLogHandler(logging.Handler):
    """Writes what libraries log as lines of the event log: logger and message text, without values.

    Without it they would write to standard error themselves, which can block.
    """

    def __init__(self, event_log: EventLog) -> None:
        super().__init__(logging.WARNING)
        self._event_log = event_log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line without the values in the message, which may be personal."""
        if record.name.partition(".")[0] == _OURS:
            sentence = record.getMessage()
        else:
            sentence = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
            # asyncio puts the values of an error into the lines after the first.
            sentence = sentence.partition("\n")[0]
        kind = record.exc_info[0] if record.exc_info else None
        self._event_log.write(
            "library",
            name=record.name,
            level=record.levelname.lower(),
            message=sentence[:200],
            error=kind.__name__ if kind else None,
        )
