"""Child processes of tests can be interrupted, also when the tests run in the background."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANDLERS = """
import signal
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    print(signal.getsignal(number))
"""


def test_a_child_has_the_default_handlers() -> None:
    child = [sys.executable, "-c", HANDLERS]
    seen = subprocess.run(child, capture_output=True, text=True, check=True).stdout
    assert "SIG_IGN" not in seen
    assert "default_int_handler" in seen


def test_a_child_has_the_default_handlers_when_the_tests_ignore_interrupts() -> None:
    """Run the test above once more as a shell without job control would in the background."""
    test = f"{Path(__file__).relative_to(ROOT)}::{test_a_child_has_the_default_handlers.__name__}"
    inner = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", test]
    background = ["sh", "-c", "trap '' INT QUIT TERM; exec \"$@\"", "sh", *inner]
    ended = subprocess.run(background, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "1 passed" in ended.stdout
