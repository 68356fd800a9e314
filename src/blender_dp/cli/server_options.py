"""Checks of the options that a relay and an issuer share."""

from blender_dp.core.errors import ParameterError
from blender_dp.wire.reports.packed_items import from_text
from blender_dp.wire.service.signatures import KEY_BYTES


def require_server_options(
    *, collector: str, collector_key: str | None, port: int, poll_seconds: float
) -> None:
    """Refuse options outside their range."""
    if not 0 <= port <= 65535:
        raise ParameterError("port", "from 0 to 65535", port)
    if not 0.01 <= poll_seconds <= 60:
        raise ParameterError("poll_seconds", "from 0.01 to 60", poll_seconds)
    if not collector.startswith(("https://", "http://")):
        raise ParameterError("collector", "an address such as https://collect.example", collector)
    if collector_key is not None and from_text(collector_key, KEY_BYTES) is None:
        rule = f"{KEY_BYTES} bytes in base64url without padding"
        raise ParameterError("collector_key", rule, collector_key)
