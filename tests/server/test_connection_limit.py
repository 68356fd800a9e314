"""The service has descriptors for its connections, or says that it has too few."""

import io
import json
import resource
from datetime import UTC, datetime

import pytest

from blender_dp.server.connections import (
    MOST_CONNECTIONS,
    RESERVED,
    ConnectionLimits,
    connection_limit,
)
from blender_dp.server.event_log import EventLog

_ENOUGH = MOST_CONNECTIONS + RESERVED


@pytest.mark.parametrize(
    ("soft", "hard", "raised_to", "connections"),
    [
        (_ENOUGH, _ENOUGH, None, MOST_CONNECTIONS),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, MOST_CONNECTIONS),
        (1024, resource.RLIM_INFINITY, _ENOUGH, MOST_CONNECTIONS),
        (1024, 10**6, _ENOUGH, MOST_CONNECTIONS),
        (1024, 4096, 4096, 4096 - RESERVED),
        (256, 256, 256, 64),
    ],
)
def test_the_limit_is_raised_as_far_as_allowed_and_a_shortage_is_said(
    monkeypatch: pytest.MonkeyPatch,
    soft: int,
    hard: int,
    raised_to: int | None,
    connections: int,
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, limits: raised.append(limits))
    said = io.StringIO()
    event_log = EventLog(lambda: datetime.now(UTC), said)
    assert connection_limit(event_log) == connections
    assert raised == ([] if raised_to is None else [(raised_to, hard)])
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    shortage = ("few-descriptors", raised_to, _ENOUGH, connections)
    expected = [] if connections == MOST_CONNECTIONS else [shortage]
    told = ("event", "allowed", "wanted", "connections")
    assert [tuple(line[name] for name in told) for line in lines] == expected


def test_an_answer_begins_with_the_headers_that_the_server_has_now() -> None:
    limits = ConnectionLimits(event_log=EventLog(lambda: datetime.now(UTC), io.StringIO()))
    for date in (b"Thu, 19 Nov 2026", b"Fri, 20 Nov 2026"):
        headers = [(b"date", date)]
        expected = b"HTTP/1.1 202 Accepted\r\ndate: %b\r\n" % date
        for _ in range(2):
            assert limits.beginning(202, headers, keep_alive=True) == expected
            closing = limits.beginning(202, headers, keep_alive=False)
            assert closing == expected + b"connection: close\r\n"
        assert limits.beginning(400, headers, keep_alive=True).startswith(b"HTTP/1.1 400 ")
