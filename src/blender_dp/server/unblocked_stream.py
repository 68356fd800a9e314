"""Standard error that never makes its writer wait.

A pipe without a reader takes 64 KiB and then blocks its writer. Here lines wait in
memory for a thread that writes them; beyond a limit new lines are dropped and counted.
"""

import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

MOST_WAITING = 1 << 22
"""Most characters that wait: some ten thousand lines."""
_LAST_SECONDS = 1.0
"""How long the end of a process waits for its last lines to be written."""


def standard_error() -> int | None:
    """Return the descriptor of standard error; None where it is no file, as in some tests."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return None


class UnblockedStream:
    """Takes texts from any thread and writes them to a descriptor, in their order."""

    def __init__(
        self, descriptor: int, lost: Callable[[int], str], most_waiting: int = MOST_WAITING
    ) -> None:
        """Take over a descriptor.

        Args:
            descriptor: Where to write.
            lost: Makes the line with the number of dropped lines.
            most_waiting: Characters that may wait.
        """
        self._descriptor, self._lost, self._most = descriptor, lost, most_waiting
        self._texts: list[str] = []
        self._size = self._dropped = 0
        self._is_writing = False
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()

    def write(self, text: str) -> None:
        """Queue a text, or drop it if too much waits."""
        with self._changed:
            if self._size + len(text) > self._most:
                self._dropped += text.count("\n")
                return
            self._texts.append(text)
            self._size += len(text)
            if not self._is_writing:
                self._is_writing = True
                self._wake()

    def flush(self) -> None:
        """Do nothing: the thread writes what waits as soon as the pipe has room."""

    def drain(self, seconds: float = _LAST_SECONDS) -> bool:
        """Wait until all is written or a time limit is reached; return whether all is written."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._is_writing, seconds)

    def _wake(self) -> None:
        """Let the thread write; start it if there is none, as in a process that was forked."""
        if self._thread is not None and self._thread.is_alive():
            self._changed.notify_all()
        else:
            self._thread = threading.Thread(target=self._write_forever, name="log", daemon=True)
            self._thread.start()

    def _write_forever(self) -> None:
        while True:
            text = self._next()
            with suppress(OSError):  # the reader is gone: the service goes on
                self._write(text.encode())

    def _next(self) -> str:
        """Wait for texts and return them."""
        with self._changed:
            while not (self._texts or self._dropped):
                self._is_writing = False
                self._changed.notify_all()
                self._changed.wait()
            if not self._texts:
                self._texts.append(self._lost(self._dropped))
                self._dropped = 0
            text = "".join(self._texts)
            self._texts, self._size = [], 0
            return text

    def _write(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # another holder of the pipe made it non-blocking
                select.select([], [self._descriptor], [])
