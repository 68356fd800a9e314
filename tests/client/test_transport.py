"""Patience with a busy service, and addresses that cannot be overheard."""

import builtins
import re
from typing import Any

import httpx
import pytest
from client.stand_in import CAMPAIGN, StandIn

from blender_dp.client.patience import Patience
from blender_dp.client.transport import (
    Answer,
    HttpTransport,
    UnreachableError,
    import_httpx,
    require_address,
)
from blender_dp.core.errors import InputError, MissingExtraError, ParameterError

PATH = f"campaigns/{CAMPAIGN}"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_service_says_how_long_to_wait(
    status: int, service: StandIn, connection: httpx.Client
) -> None:
    service.answers = [(status, {}, {"Retry-After": "7"}), (status, {}, {"Retry-After": "9999"})]
    waits: list[float] = []
    transport = HttpTransport(service.url, client=connection, sleep=waits.append)
    assert transport.send("GET", PATH).status == 200
    assert waits == [7.0, 60.0]


def test_without_a_word_the_waits_double_and_devices_spread(
    service: StandIn, connection: httpx.Client
) -> None:
    service.answers = [(503, {}, {}), (503, {}, {"Retry-After": "soon"}), (503, {}, {})]
    waits: list[float] = []
    HttpTransport(service.url, client=connection, sleep=waits.append).send("GET", PATH)
    for wait, most in zip(waits, (0.25, 0.5, 1.0), strict=True):
        assert most / 2 <= wait <= most


def test_patience_ends(connection: httpx.Client) -> None:
    waits: list[float] = []
    transport = HttpTransport(
        "http://127.0.0.1:9", client=connection, patience=Patience(attempts=3), sleep=waits.append
    )
    with pytest.raises(UnreachableError, match="cannot be reached; try again later"):
        transport.send("GET", PATH)
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://Collect.Example/", "https://collect.example"),
        ("https://collect.example:8443/a/", "https://collect.example:8443/a"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_an_address_has_one_spelling(url: str, address: str) -> None:
    assert require_address(url) == address


@pytest.mark.parametrize(
    "url",
    [
        *("http://collect.example", "ftp://collect.example", "collect.example", "https://", ""),
        *("https://a:b@collect.example", "https://collect.example?x=1", "https://x.example#y"),
        *("http://127.0.0.1.example", "http://localhost.example"),
    ],
)
def test_an_address_that_could_be_overheard_is_refused(url: str) -> None:
    with pytest.raises(ParameterError, match=re.escape("url must be")):
        require_address(url)


def test_an_answer_that_is_no_document_is_refused() -> None:
    with pytest.raises(InputError, match="the list: must be JSON"):
        Answer(status=200, content=b"<html>").document("the list")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without_httpx(name: str, *rest: Any) -> Any:
        if name == "httpx":
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_httpx)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'blender-dp[service]'")):
        import_httpx()
