"""Start and stop of the relay, in a separate file because it needs the extra."""

import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.cli.ending import Ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.http_server import address_of, bind, serve_app
from blender_dp.cli.terminal import RESULTS
from blender_dp.relay.app import RelayApp
from blender_dp.relay.collector import BatchCollector
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.signing_key import signing_key
from blender_dp.relay.storage.store import SCHEMA, RelayStore
from blender_dp.server.databases.open_database import open_database
from blender_dp.server.event_log import EventLog
from blender_dp.server.library_messages import all_lines_in
from blender_dp.wire.service.signatures import public_key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayServer:
    """Where the relay listens, keeps its data and finds its collector."""

    collector: str
    data: Path
    database: str
    collector_key: str | None
    host: str
    port: int
    poll_seconds: float


def relay_forever(options: RelayServer) -> None:
    """Serve until a signal comes."""
    key = signing_key(options.data)
    event_log = EventLog(now)
    with all_lines_in(event_log), bind(options.host, options.port) as bound:
        run_loop(_serve(options, key, bound, Ending(event_log=event_log)))
        event_log.write("stopped")


async def _serve(
    options: RelayServer, key: Ed25519PrivateKey, bound: socket.socket, ending: Ending
) -> None:
    database = await open_database(options.database, SCHEMA)
    RESULTS.print(f"public key of this relay: {public_key_of(key)}")
    collector = BatchCollector(options.collector)
    try:
        app = RelayApp(
            Dependencies(
                store=RelayStore(database),
                collector=collector,
                key=key,
                event_log=ending.event_log,
                collector_key=options.collector_key,
                poll_seconds=options.poll_seconds,
                directory=options.data,
            )
        )
        listens = partial(ending.event_log.write, "listening", address=address_of(bound))
        await serve_app(app, bound, ending, listens)
    finally:
        await collector.close()
        await database.close()
    ending.is_closed = True
