"""``blender-dp relay``: the relay between devices and a collector."""

from pathlib import Path

from blender_dp.cli.server_options import require_server_options
from blender_dp.cli.service_options import require_service_extra


def relay(
    *,
    collector: str,
    data: Path = Path("blender-dp-relay"),
    database: str | None = None,
    collector_key: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8090,
    poll_seconds: float = 5.0,
) -> None:
    """Run a relay: it keeps encrypted reports, shuffles them and forwards them once.

    Run it in another organisation than the collector: people are promised that the two do not work
    together. At the start it prints its public key, which the collector's operator puts into the
    campaign. It cannot read reports, and stores no address and no time. Ctrl-C or SIGTERM stops it.
    Exit status: 0 when stopped, 1 if it was ended by force, 2 if it cannot start.

    Parameters
    ----------
    collector
        Address of the collection service, such as https://collect.example.
    data
        Directory of the relay, made if it is missing: its key and its reports.
    database
        Database, such as postgresql://user@host/name. Default: SQLite in the directory.
    collector_key
        Public key of the collector, base64url. Default: the one of the first head list that is
        read.
    host
        Address to listen on; 0.0.0.0 for all.
    port
        Port to listen on; 0 takes a free one.
    poll_seconds
        Pause between two looks at the collector.
    """
    require_service_extra("relay")
    from blender_dp.cli.relaying import RelayServer, relay_forever  # noqa: PLC0415 - an extra

    require_server_options(
        collector=collector, collector_key=collector_key, port=port, poll_seconds=poll_seconds
    )
    options = RelayServer(
        collector=collector,
        data=data,
        database=database or str(data / "relay.sqlite"),
        collector_key=collector_key,
        host=host,
        port=port,
        poll_seconds=poll_seconds,
    )
    relay_forever(options)
