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

    def write(self, event: str, **fields: Value) -> None:
        """Write one line."""
        line = json.dumps({"event": event, **fields}, separators=(",", ":"))
        self._put(line[1:])

    def _put(self, rest: str) -> None:
        time = self._now().isoformat(timespec="milliseconds")[:23]
        with suppress(OSError, ValueError):  # nobody reads any more: no reason to stop
            self._stream.write(f'{{"time":"{time}Z",{rest}\n')
            self._stream.flush()

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
