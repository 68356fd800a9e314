"""HTTP transport of a device: retries, limits on answers, and two kinds of errors."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import urlsplit

from blender_dp.client.patience import BUSY, Patience
from blender_dp.core.errors import BlenderError, InputError, MissingExtraError, ParameterError
from blender_dp.wire.documents.strict_json import read_object

if TYPE_CHECKING:
    import httpx

MOST_ANSWER_BYTES = 2**28
_TYPE = re.compile(r"urn:blender-dp:problem:([a-z0-9-]{1,60})")
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


class UnreachableError(BlenderError):
    """The service did not answer or stayed busy; the same request may be sent again."""


class ServiceRefusalError(BlenderError):
    """The service refused a request; the same request would be refused again.

    ``after_silence``: an earlier attempt with the same request got no answer, and may have arrived.
    """

    def __init__(self, status: int, problem: str, *, after_silence: bool = False) -> None:
        self.status, self.problem, self.after_silence = status, problem, after_silence
        super().__init__(f"the service refused the request: {problem} (status {status})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Answer of a service."""

    status: int
    content: bytes
    retry_after: str | None = None

    def document(self, source: str) -> dict[str, Any]:
        """Read the answer as a JSON object."""
        return read_object(source, self.content)


class Transport(Protocol):
    """Sends one request and returns a good answer, or raises one of the two errors above."""

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        """Send a request to a path below ``/v1/``."""
        ...


class DeviceTransport(Transport, Protocol):
    """Transport of a device, which also talks to relays."""

    def toward(self, url: str) -> Transport:
        """Return a transport to another address, with the same settings."""
        ...


def require_address(url: str, name: str = "url") -> str:
    """Return a service's address in one spelling; refuse plain HTTP to other machines.

    Args:
        url: The address.
        name: What the caller calls it.
    """
    parts = urlsplit(url)
    is_here = parts.hostname in _THIS_MACHINE
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
        raise ParameterError(name, "https://… (or http:// on this machine)", url)
    if not parts.hostname or parts.query or parts.fragment or parts.username or parts.password:
        raise ParameterError(name, "an address such as https://collect.example", url)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def import_httpx() -> Any:  # noqa: ANN401 - a module
    """Import the HTTP library, or raise with how to install it."""
    try:
        import httpx  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("service", "talking to a service") from None
    return httpx


def headers(body: bytes | None, token: str | None) -> dict[str, str]:
    """Return the headers of a request."""
    kind = {} if body is None else {"Content-Type": "application/json"}
    return kind if token is None else {**kind, "Authorization": f"Bearer {token}"}


def require_good(answer: Answer, *, after_silence: bool = False) -> Answer:
    """Return a good answer, or raise; the error tells if an earlier attempt had no answer."""
    if 200 <= answer.status < 300:
        return answer
    if answer.status >= 500:
        raise UnreachableError("the service failed; try again later")
    raise ServiceRefusalError(answer.status, _problem(answer), after_silence=after_silence)


def _problem(answer: Answer) -> str:
    """Return the problem's slug; no other text of a service is logged."""
    try:
        found = _TYPE.fullmatch(str(answer.document("x").get("type")))
    except InputError:
        found = None
    return found.group(1) if found else "no reason given"


class HttpTransport:
    """Requests over HTTP, repeated while a service is busy or unreachable."""

    def __init__(
        self,
        url: str,
        *,
        client: "httpx.Client | None" = None,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare to talk to the service at ``url``."""
        self._httpx = import_httpx()
        self._url = require_address(url)
        self._is_own = client is None
        self._client: httpx.Client = client or self._httpx.Client(timeout=30.0)
        self._patience, self._sleep = patience or Patience(), sleep

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        """Send a request until it is answered or ``patience`` gives up."""
        attempt, is_silent = 0, False
        while True:
            attempt += 1
            answer = self._once(method, path, body, token)
            if answer is not None and answer.status not in BUSY:
                return require_good(answer, after_silence=is_silent)
            # A front end answers 5xx also when the service accepted the request and did not answer.
            is_silent = is_silent or answer is None or answer.status >= 500
            wait = self._patience.wait(attempt, answer.retry_after if answer else None)
            if wait is None:
                what = "is busy" if answer else "cannot be reached"
                raise UnreachableError(f"the service {what}; try again later")
            self._sleep(wait)

    def toward(self, url: str) -> "HttpTransport":
        """Return a transport to another address over the same client; only this one closes it."""
        return HttpTransport(url, client=self._client, patience=self._patience, sleep=self._sleep)

    def close(self) -> None:
        """Close the connections that were made here."""
        if self._is_own:
            self._client.close()

    def __enter__(self) -> Self:
        """Use it within a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _once(self, method: str, path: str, body: bytes | None, token: str | None) -> Answer | None:
        try:
            with self._client.stream(
                method, f"{self._url}/v1/{path}", content=body, headers=headers(body, token)
            ) as response:
                return Answer(
                    status=response.status_code,
                    content=_read_bounded(response),
                    retry_after=response.headers.get("Retry-After"),
                )
        except self._httpx.TransportError:
            return None


def _read_bounded(response: "httpx.Response") -> bytes:
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > MOST_ANSWER_BYTES:
            raise InputError("the answer", f"must be at most {MOST_ANSWER_BYTES >> 20} MiB")
    return bytes(content)
