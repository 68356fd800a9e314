"""One line of JSON an event on standard error, with nothing in it that a person sent."""

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TextIO

Value = str | int | float | None


class Journal:
    """Writes what happened: methods, route templates, statuses, kinds of errors; never content."""

    def __init__(self, now: Callable[[], datetime], stream: TextIO | None = None) -> None:
        self._now, self._stream = now, stream or sys.stderr
        self._second, self._written_second = now().replace(microsecond=0), ""
        self._lines: list[str] = []
        self._awaited: asyncio.AbstractEventLoop | None = None

    def write(self, event: str, **fields: Value) -> None:
        """Write one line."""
        line = json.dumps({"event": event, **fields}, separators=(",", ":"))
        self._lines.append(self._line(line[1:]))
        self._flush()

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Write down a request; its words are from closed lists, with nothing to escape.

        Requests that were answered together are written together, in the loop's next turn.
        """
        self._lines.append(
            self._line(
                f'"event":"request","method":"{method}","route":"{route}","status":{status},'
                f'"milliseconds":{round(seconds * 1000, 2)}}}'
            )
        )
        loop = asyncio.get_running_loop()
        if self._awaited is not loop:
            self._awaited = loop
            loop.call_soon(self._flush)

    def failure(self, where: str, error: BaseException) -> None:
        """Write down that something failed: the kind of error and the place, not its message.

        A message may quote what somebody sent.
        """
        traceback, place = error.__traceback__, ""
        while traceback is not None:
            code = traceback.tb_frame.f_code
            place = f"{code.co_name}:{traceback.tb_lineno}"
            traceback = traceback.tb_next
        self.write("failure", where=where, error=type(error).__name__, at=place)

    def _line(self, rest: str) -> str:
        """Return a line with the time; most are of the same second as the last."""
        now = self._now()
        since = now - self._second
        if since.seconds or since.days or not self._written_second:
            self._second = now.replace(microsecond=0)
            self._written_second = self._second.isoformat()[:19]
        return f'{{"time":"{self._written_second}.{now.microsecond // 1000:03}Z",{rest}\n'

    def _flush(self) -> None:
        lines, self._lines, self._awaited = self._lines, [], None
        with suppress(OSError, ValueError):  # nobody reads any more: no reason to stop
            self._stream.write("".join(lines))
            self._stream.flush()
