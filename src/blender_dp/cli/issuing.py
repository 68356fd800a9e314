"""Start and stop of the issuer, in a separate file because it needs the extra."""

import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from blender_dp.cli.ending import Ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.http_server import address_of, bind, serve_app
from blender_dp.cli.terminal import RESULTS
from blender_dp.issuer.app import IssuerApp
from blender_dp.issuer.campaign_keys import CampaignKeys
from blender_dp.issuer.dependencies import Dependencies
from blender_dp.issuer.logins.http_hook import HttpHook
from blender_dp.issuer.logins.login import Login
from blender_dp.issuer.logins.openid_connect import OpenIdConnect
from blender_dp.issuer.storage.store import SCHEMA, IssuerStore
from blender_dp.server.collector import Collector
from blender_dp.server.databases.open_database import open_database
from blender_dp.server.event_log import EventLog
from blender_dp.server.library_messages import all_lines_in


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerServer:
    """Where the issuer listens, keeps its data, and finds its collector and its login."""

    collector: str
    login_hook: str | None
    openid_provider: str | None
    audience: str | None
    data: Path
    database: str
    collector_key: str | None
    host: str
    port: int
    poll_seconds: float

    def login(self) -> Login:
        """Return the login that tells people apart."""
        if self.login_hook is not None:
            return HttpHook(self.login_hook)
        return OpenIdConnect(self.openid_provider or "", self.audience or "")


def issue_forever(options: IssuerServer) -> None:
    """Serve until a signal comes."""
    keys = CampaignKeys(options.data)
    event_log = EventLog(now)
    with all_lines_in(event_log), bind(options.host, options.port) as bound:
        run_loop(_serve(options, keys, bound, Ending(event_log=event_log)))
        event_log.write("stopped")


async def _serve(
    options: IssuerServer, keys: CampaignKeys, bound: socket.socket, ending: Ending
) -> None:
    database = await open_database(options.database, SCHEMA)
    RESULTS.print(f"public key for the next campaign: {keys.next_key().token_key.text}")
    login, collector = options.login(), Collector(options.collector)
    try:
        app = IssuerApp(
            Dependencies(
                store=IssuerStore(database),
                keys=keys,
                login=login,
                collector=collector,
                event_log=ending.event_log,
                collector_key=options.collector_key,
                poll_seconds=options.poll_seconds,
                directory=options.data,
            )
        )
        listens = partial(ending.event_log.write, "listening", address=address_of(bound))
        await serve_app(app, bound, ending, listens)
    finally:
        await login.close()
        await collector.close()
        await database.close()
        keys.close()
    ending.is_closed = True
