"""End of a service process within ten seconds of SIGTERM or Ctrl-C, even if something hangs.

Acknowledged reports are on disk already, so a forced end loses none: a client without an answer
sends its request again.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from blender_dp.server.event_log import EventLog

GRACE_SECONDS = 5
"""Time in which accepted requests may still be answered."""
FORCED_AFTER_SECONDS = 8
"""Time from the signal to the forced end of a process that did not end by itself."""
_BY_THE_KERNEL_AFTER_SECONDS = 9
"""Time to the kernel's timer, for a process in which Python does not run any more."""
FORCED_STATUS = 1
STOPPING = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True, kw_only=True)
class Ending:
    """The end of one process, by itself or by force."""

    event_log: EventLog
    is_closed: bool = False
    """Whether the database was closed properly. Then only the computation of a job still runs,
    which another process takes over, and a forced end counts as a normal one."""
    _is_forced: bool = False

    def on_signals(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` in this event loop on a signal; end the process if that takes too long.

        The handlers are Python's own, not the event loop's: they run although the loop hangs.
        """
        loop = asyncio.get_running_loop()

        def on_signal(*_: object) -> None:
            self.force()
            if not loop.is_closed():
                loop.call_soon_threadsafe(stop)

        for one in STOPPING:
            signal.signal(one, on_signal)

    def with_parent(self) -> None:
        """End when the parent process is gone: no other process would end this one.

        For a process that :mod:`multiprocessing` started; an orphan would keep the port.
        """
        threading.Thread(target=self._wait_for_parent, daemon=True).start()

    def _wait_for_parent(self) -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            self.force()
            os.kill(os.getpid(), signal.SIGTERM)

    def force(self) -> None:
        """Force the process to end in some seconds, unless it ends by itself."""
        if self._is_forced:
            return
        self._is_forced = True
        threading.Thread(target=self._end, daemon=True).start()
        signal.setitimer(signal.ITIMER_REAL, _BY_THE_KERNEL_AFTER_SECONDS)

    def _end(self) -> None:
        time.sleep(FORCED_AFTER_SECONDS)
        if not self.is_closed:
            self.event_log.write("ended-by-force")
        self.event_log.drain()
        os._exit(0 if self.is_closed else FORCED_STATUS)
