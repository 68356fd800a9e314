"""`make slowest` counts the CPU of a test and of the processes that it has started."""

import subprocess
import sys
import time

from cpu_of_tests import cpu_seconds

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def test_a_child_that_runs_and_one_that_has_ended_are_counted_once() -> None:
    before, own_before = cpu_seconds(), time.process_time()
    with subprocess.Popen(
        [sys.executable, "-I", "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running = cpu_seconds() - before
        child.communicate(b"\n")
    ended = cpu_seconds() - before
    own = time.process_time() - own_before
    for found in (running, ended):
        assert 0.25 < found < own + 0.55, "once is 0.3, twice is 0.6"
