"""Addresses of other servers, to which nothing goes in plain text over a network."""

from urllib.parse import urlsplit

from blender_dp.core.errors import ParameterError

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def is_private_channel(address: str) -> bool:
    """Tell whether an address is https, or http on this machine."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    is_here = parts.scheme == "http" and parts.hostname in _THIS_MACHINE
    return bool(parts.hostname) and (parts.scheme == "https" or is_here)


def require_private_channel(name: str, address: str) -> None:
    """Refuse an address to which others could listen."""
    if not is_private_channel(address):
        raise ParameterError(name, "https://… (or http:// on this machine)", address)
