"""``blender-dp issuer``: an issuer of report tokens behind a login of its operator."""

from pathlib import Path

from blender_dp.cli.server_options import require_server_options
from blender_dp.cli.service_options import require_service_extra
from blender_dp.core.errors import BlenderError


def issuer(
    *,
    collector: str,
    login_hook: str | None = None,
    openid_provider: str | None = None,
    audience: str | None = None,
    data: Path = Path("blender-dp-issuer"),
    database: str | None = None,
    collector_key: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8091,
    poll_seconds: float = 5.0,
) -> None:
    """Run an issuer: it signs one report token per person and campaign, without seeing it.

    Run it where people can be told apart: behind a login that exists. At the start it prints a
    public key, which the collector's operator puts into one campaign; the next campaign gets the
    next key (GET /v1/key). Who got a token is stored as a keyed hash until the campaign ends.
    Ctrl-C or SIGTERM stops it.
    Exit status: 0 when stopped, 1 if it was ended by force, 2 if it cannot start.

    Parameters
    ----------
    collector
        Address of the collection service, such as https://collect.example.
    login_hook
        Address of yours that gets the caller's Authorization header and answers
        {"subject": "…"}, or 401.
    openid_provider
        Instead of a hook: the OpenID Connect provider, as its tokens name it (iss).
    audience
        With a provider: what its tokens for this issuer have as audience (aud).
    data
        Directory of the issuer, made if it is missing: its keys and its database.
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
    require_service_extra("issuer")
    from blender_dp.cli.issuing import IssuerServer, issue_forever  # noqa: PLC0415 - an extra
    from blender_dp.server.addresses import require_private_channel  # noqa: PLC0415 - an extra

    require_server_options(
        collector=collector, collector_key=collector_key, port=port, poll_seconds=poll_seconds
    )
    if (login_hook is None) == (openid_provider is None):
        raise BlenderError("give --login-hook or --openid-provider, one of the two")
    if (openid_provider is None) != (audience is None):
        raise BlenderError("--audience goes with --openid-provider: give both or none")
    name = "login_hook" if login_hook is not None else "openid_provider"
    require_private_channel(name, login_hook or openid_provider or "")
    options = IssuerServer(
        collector=collector,
        login_hook=login_hook,
        openid_provider=openid_provider,
        audience=audience,
        data=data,
        database=database or str(data / "issuer.sqlite"),
        collector_key=collector_key,
        host=host,
        port=port,
        poll_seconds=poll_seconds,
    )
    issue_forever(options)
