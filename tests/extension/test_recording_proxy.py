"""The proxy of these tests ends with every connection, also with one that asks for nothing."""

import socket
import threading
import time

import pytest
from extension.recording_proxy import recording_proxy


@pytest.mark.parametrize("begun", [b"", b"GET http://a.example/ HTTP/1.1\r\nHost: a"])
def test_a_connection_without_a_request_is_let_go(begun: bytes) -> None:
    """Browsers open some ahead; a thread that goes on reading one slows every test after it."""
    before = set(threading.enumerate())
    with recording_proxy() as recorder:
        port = int(recorder.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(begun)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(20)
            assert connection.recv(1) == b""
    until = time.monotonic() + 20
    while set(threading.enumerate()) - before:
        assert time.monotonic() < until, "a connection is still served"
        time.sleep(0.01)
    assert recorder.requests == []


def test_a_proxy_that_is_cut_passes_nothing_on_and_writes_down_what_was_tried() -> None:
    with recording_proxy() as recorder:
        port = int(recorder.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:  # opened ahead
            recorder.is_cut = True
            connection.settimeout(60)
            connection.sendall(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
            assert connection.recv(1) == b""
    assert [one.port for one in recorder.requests] == [port]
