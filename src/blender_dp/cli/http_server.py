"""HTTP server of the service and of the relay, on a port that is bound first."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from blender_dp.cli.ending import GRACE_SECONDS, Ending
from blender_dp.core.errors import BlenderError
from blender_dp.server.connections import ConnectionLimits, connection_limit
from blender_dp.server.direct_requests import DirectRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Certificate for HTTPS, or the front ends that have one."""

    certificate: Path | None = None
    key: Path | None = None
    proxies: tuple[str, ...] = ()
    """Networks of front ends whose X-Forwarded-For is trusted."""


@contextmanager
def bind(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on a port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, socket.gaierror) as error:
        raise BlenderError(
            f"cannot listen on port {port} of {host} ({error.strerror or 'no such address'})"
        ) from None
    with bound:
        yield bound


def address_of(bound: socket.socket, scheme: str = "http") -> str:
    """Return the address of a bound port."""
    host, port = bound.getsockname()[:2]
    place = f"[{host}]" if ":" in host else host
    return f"{scheme}://{place}:{port}"


class _Server(uvicorn.Server):
    """A server that its caller stops, and that calls back when it listens."""

    def __init__(self, config: uvicorn.Config, listens: Callable[[], None]) -> None:
        super().__init__(config)
        self._listens = listens

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: the caller handles signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call back."""
        await super().startup(sockets)
        if self.started:
            self._listens()


async def serve_app(
    app: Any,  # noqa: ANN401 - ASGI
    bound: socket.socket,
    ending: Ending,
    listens: Callable[[], None],
    tls: Tls = Tls(),  # noqa: B008 - frozen
    direct: DirectRoute | None = None,
) -> None:
    """Serve an application, and a route that needs no ASGI, until a signal comes."""
    log = ending.event_log
    limits = ConnectionLimits(event_log=log, direct=direct, most=connection_limit(log))
    config = uvicorn.Config(
        app,
        loop="none",
        http=limits.protocol(),
        ws="none",
        timeout_keep_alive=limits.idle_seconds,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(tls.proxies),
        forwarded_allow_ips=list(tls.proxies),
        ssl_certfile=tls.certificate,
        ssl_keyfile=tls.key,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config, listens)

    def stop() -> None:
        server.should_exit = True

    ending.on_signals(stop)
    await server.serve(sockets=[bound])
