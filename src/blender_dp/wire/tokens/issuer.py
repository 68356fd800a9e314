"""Issuer of a campaign's report tokens, if another server than the service issues them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blender_dp.core.errors import ParameterError
from blender_dp.wire.relayed.listed_relay import RELAY_ADDRESS_RULE, is_relay_address
from blender_dp.wire.tokens.token_key import TOKEN_KEY_RULE, read_token_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """Who can tell people apart: where a device asks for its token, and the key that signs it.

    Its key is for one campaign only: a blinded message does not tell which campaign it is for.
    """

    address: str
    """Where devices ask; it ends with a slash."""
    public_key: str
    """The key of the tokens, as the head list writes it."""

    def __post_init__(self) -> None:
        if not is_relay_address(self.address):
            rule = RELAY_ADDRESS_RULE.removeprefix("must be ")
            raise ParameterError("issuer.address", rule, self.address)
        if read_token_key(self.public_key) is None:
            rule = TOKEN_KEY_RULE.removeprefix("must be ")
            raise ParameterError("issuer.public_key", rule, self.public_key)

    def document(self) -> dict[str, str]:
        """Return the issuer as a campaign's description has it."""
        return {"address": self.address, "public_key": self.public_key}


def read_issuer(document: Mapping[str, Any] | None) -> Issuer | None:
    """Return the issuer of a description; None if the service issues, or nobody."""
    if document is None:
        return None
    return Issuer(address=document["address"], public_key=document["public_key"])
