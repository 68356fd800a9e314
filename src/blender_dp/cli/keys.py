"""Text after every key, read from a terminal in raw mode."""

import codecs
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress

try:
    import termios
    import tty
except ImportError:  # not on Windows
    HAS_KEYS = False
else:
    HAS_KEYS = True

_ENDS = ("\r", "\n", "\x04", "\x03")
_ERASES = ("\x7f", "\x08")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;]*[~A-Za-z]|O.)?")
"""Escape sequences, such as those of arrow keys."""
_CLEARS = ("\x15", "\x17")


def typed_so_far() -> Iterator[str]:
    """Yield nothing, then the text after every key, until Enter or Ctrl-D.

    The first text comes when the terminal is in raw mode; the mode is restored at the end.
    """
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
    text = ""
    tty.setcbreak(terminal)
    try:
        with suppress(KeyboardInterrupt):
            yield text
            while keys := os.read(terminal, 1024):
                for key in _SEQUENCE.sub("", decoder.decode(keys)):
                    if key in _ENDS:
                        return
                    text = _after(text, key)
                yield text
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _after(text: str, key: str) -> str:
    if key in _ERASES:
        return text[:-1]
    if key in _CLEARS:
        return ""
    return text + key if key.isprintable() else text
