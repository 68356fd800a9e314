"""``blender-dp serve``: the collection service."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.options import Flag
from blender_dp.cli.service_options import ServiceOptions, require_service_extra
from blender_dp.core.errors import ParameterError


def serve(
    *,
    storage: ServiceOptions = ServiceOptions(),  # noqa: B008 - frozen
    host: str = "127.0.0.1",
    port: int = 8080,
    workers: int = 1,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
    no_jobs: Flag = False,
    uploads_per_second: float | None = None,
    most_delta: float = 1e-5,
    first_token_file: Path | None = None,
    private_metrics: Flag = False,
    proxy: Annotated[tuple[str, ...], Parameter(negative="")] = (),
) -> None:
    """Run the collection service: campaigns from consent to release, over HTTP.

    Needs no other process: everything is stored in one directory. The first start makes an operator
    token and prints it once. Ctrl-C or SIGTERM stops the service within ten seconds; accepted
    requests are answered before.
    Exit status: 0 when stopped, 1 if it or a worker was ended by force or if workers kept dying, 2
    if it cannot start.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 for all.
    port
        Port to listen on; 0 takes a free one.
    workers
        Number of processes that answer; one that dies is started again. More than 1 only with
        PostgreSQL.
    tls_certificate
        File with the certificate chain, for HTTPS without a front end.
    tls_key
        File with its private key.
    no_jobs
        Leave jobs and deadlines to another process (blender-dp work).
    uploads_per_second
        Rate limit of enrolments per address and of uploads per token, for simulated devices or a
        front end that hides addresses. Default: 20 enrolments at once, then one in five seconds; 60
        uploads at once, then one per second.
    most_delta
        The largest δ that a campaign may have. Devices refuse more than 1e-5 by default.
    first_token_file
        File for the operator token of the first start, readable by its owner only; for an
        unattended start. Default: the token is printed.
    private_metrics
        Show /metrics only to requests with a token of any role.
    proxy
        Address or network of a front end whose X-Forwarded-For names the client's address; give it
        once per front end. Default: none; the connection's own address counts.
    """
    require_service_extra("serve")
    from blender_dp.cli.serving import Listening, serve_forever  # noqa: PLC0415 - an extra

    if (tls_certificate is None) != (tls_key is None):
        raise ParameterError("tls_key", "given together with --tls-certificate", tls_key)
    if not 0 <= port <= 65535:
        raise ParameterError("port", "from 0 to 65535", port)
    if workers < 1 or (workers > 1 and not storage.is_postgres):
        raise ParameterError("workers", "1, or more with a PostgreSQL database", workers)
    if uploads_per_second is not None and not 0 < uploads_per_second <= 1e6:
        raise ParameterError("uploads_per_second", "above 0, up to 1e6", uploads_per_second)
    if not 0 < most_delta < 1:
        raise ParameterError("most_delta", "strictly between 0 and 1", most_delta)
    listening = Listening(
        host=host,
        port=port,
        workers=workers,
        certificate=tls_certificate,
        key=tls_key,
        has_jobs=not no_jobs,
        uploads_per_second=uploads_per_second,
        most_delta=most_delta,
        first_token_file=first_token_file,
        has_private_metrics=private_metrics,
        proxies=tuple(_network(address) for address in proxy),
    )
    serve_forever(storage, listening)


def _network(address: str) -> str:
    """Return an address or network in canonical spelling."""
    try:
        return str(ip_network(address))
    except ValueError:
        raise ParameterError(
            "proxy", "an address such as 192.0.2.7 or a network such as 192.0.2.0/24", address
        ) from None
