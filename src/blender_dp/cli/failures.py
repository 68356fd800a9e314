"""Failures of commands: one sentence on standard error and an exit status, no traceback.

Status 2: a wrong argument, bad input or a full disk. Status 130: Ctrl-C. A traceback means a bug of
this software.
"""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cyclopts import CycloptsError

from blender_dp.cli.option_names import option_name
from blender_dp.core.errors import BlenderError, ParameterError

BAD_INPUT = 2
OUT_OF_MEMORY = 3
"""Exit status of a planner's process whose question needs too much memory."""
INTERRUPTED = 130
_DISK = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turn errors that a person can correct into a sentence and an exit status."""
    try:
        yield
    except ParameterError as error:
        _exit(f"--{option_name(error.name)}: {error}", BAD_INPUT)
    except (BlenderError, CycloptsError) as error:
        _exit(str(error), BAD_INPUT)
    except KeyboardInterrupt as interruption:
        _exit(str(interruption) or "interrupted; nothing was written", INTERRUPTED)
    except MemoryError:
        _exit("the parameters need more memory than this machine has", BAD_INPUT)
    except BrokenPipeError:
        _silence_output()  # the reader closed the pipe, which is not a failure
        sys.exit(0)
    except OSError as error:
        _silence_output()
        where = f"{error.filename}: " if error.filename else ""
        if error.errno in _DISK:
            _exit(f"{where}the disk is full", BAD_INPUT)
        _exit(f"{where}{error.strerror or 'cannot be read or written'}", BAD_INPUT)


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Let the first Ctrl-C end the command, and ignore more of them while it tidies up.

    A second one would interrupt the tidying and leave files and processes behind.
    """
    usual = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or usual is not signal.default_int_handler:
        yield  # started in the background, where Ctrl-C is ignored, or by another program
        return

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:
            signal.signal(signal.SIGINT, usual)


def _silence_output() -> None:
    """Prevent Python's own error message when it closes an output without a reader."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit(sentence: str, status: int) -> None:
    sys.stderr.write(f"blender-dp: {sentence}\n")
    sys.exit(status)
