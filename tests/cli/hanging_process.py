"""A process that hangs when it is told to stop: ``python hanging_process.py HOW``."""

import re
import sys
import threading
import time

from blender_dp.cli import ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.server.event_log import EventLog


async def hang(how: str) -> None:
    end = ending.Ending(event_log=EventLog(now))
    end.on_signals(lambda: None)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if how == "loop":  # in short sleeps: a signal just before one is handled after it
        for _ in range(3000):
            time.sleep(0.1)
    elif how == "computation":
        threading.Thread(target=time.sleep, args=(300,)).start()
        end.is_closed = True
    else:  # nothing else runs in this process: matching gives the interpreter's lock to nobody
        re.match(r"(a+)+$", "a" * 60 + "b")


if __name__ == "__main__":
    ending.FORCED_AFTER_SECONDS = 1
    ending._BY_THE_KERNEL_AFTER_SECONDS = 2
    run_loop(hang(sys.argv[1]))
