"""One line of JSON an event on standard error, with nothing in it that a person sent."""

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

    def write(self, event: str, **fields: Value) -> None:
        """Write one line."""
        line = json.dumps({"event": event, **fields}, separators=(",", ":"))
        self._put(line[1:])

    def _put(self, rest: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads any more: no reason to stop
            self._stream.write(f'{{"time":"{self._time()}",{rest}\n')
            self._stream.flush()

    def _time(self) -> str:
        """Return the time with its milliseconds; most lines are of the same second as the last."""
        now = self._now()
        since = now - self._second
        if since.seconds or since.days or not self._written_second:
            self._second = now.replace(microsecond=0)
            self._written_second = self._second.isoformat()[:19]
        return f"{self._written_second}.{now.microsecond // 1000:03}Z"

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Write down a request; its words are from closed lists, with nothing to escape."""
        self._put(
            f'"event":"request","method":"{method}","route":"{route}","status":{status},'
            f'"milliseconds":{round(seconds * 1000, 2)}}}'
        )

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
