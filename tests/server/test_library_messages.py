"""What libraries say becomes one line of JSON, without their words."""

import io
import json
import logging
import sys
import threading
import warnings
from datetime import UTC, datetime
from typing import Any

import pytest

from blender_dp.server.event_log import EventLog
from blender_dp.server.library_messages import all_lines_in

CANARY = "canary7f3a"


def fail() -> None:
    raise ValueError(CANARY)


@pytest.mark.filterwarnings("default")
def test_messages_warnings_and_errors_are_lines_without_their_words() -> None:
    stream = io.StringIO()
    before = sys.excepthook, threading.excepthook, sys.unraisablehook, warnings.showwarning
    with all_lines_in(EventLog(lambda: datetime(2026, 11, 15, tzinfo=UTC), stream)):
        logging.getLogger("uvicorn.error").warning("they sent %s", CANARY)
        logging.getLogger("blender_dp.sqlite.writer").warning("disk: %s", "SQLITE_FULL")
        warnings.warn(CANARY, ResourceWarning, stacklevel=1)
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
        try:
            fail()
        except ValueError as error:
            logging.getLogger("asyncio").exception("a task failed\n" + CANARY)
            sys.excepthook(ValueError, error, error.__traceback__)
    assert before == (
        *(sys.excepthook, threading.excepthook, sys.unraisablehook),
        warnings.showwarning,
    )
    assert CANARY not in stream.getvalue()
    lines: list[dict[str, Any]] = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line.get("name"), line.get("error")) for line in lines] == [
        ("library", "uvicorn.error", None),
        ("library", "blender_dp.sqlite.writer", None),
        ("warning", None, "ResourceWarning"),
        ("failure", None, "ValueError"),
        ("library", "asyncio", "ValueError"),
        ("failure", None, "ValueError"),
    ]
    assert lines[1]["message"] == "disk: SQLITE_FULL"
    assert lines[3]["where"] == "thread"
