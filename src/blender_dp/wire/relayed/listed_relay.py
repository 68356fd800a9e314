"""Relay that a signed head list names: its address, its key, and the key that encrypts reports."""

import re
from dataclasses import dataclass

from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.reports.packed_items import from_text

KEY_BYTES = 32
MOST_ADDRESS_LETTERS = 300
_ADDRESS = re.compile(
    r"https?://(?:[a-z0-9][a-z0-9.-]*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/(?:[A-Za-z0-9._~-]+/)*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRelay:
    """The relay of a campaign, as every device finds it in the signed head list."""

    address: str
    """Where devices send encrypted reports; it ends with a slash."""
    public_key: str
    """The key with which the relay signs (Ed25519)."""
    encryption_key: str
    """The collector's key for the reports of this campaign (X25519)."""

    def document(self) -> dict[str, str]:
        """Return the object ``relay`` of the signed head list."""
        return {
            "address": self.address,
            "public_key": self.public_key,
            "encryption_key": self.encryption_key,
        }


def read_listed_relay(fields: Fields) -> ListedRelay:
    """Read the object ``relay`` of a signed head list."""
    fields.only("address", "public_key", "encryption_key")
    address = fields.text("address")
    if not is_relay_address(address):
        fields.refuse("address", RELAY_ADDRESS_RULE)
    return ListedRelay(
        address=address,
        public_key=_key(fields, "public_key"),
        encryption_key=_key(fields, "encryption_key"),
    )


RELAY_ADDRESS_RULE = (
    "must be an http or https address that ends with a slash, "
    "without credentials, query, fragment or capital letters in the host"
)


def is_relay_address(text: str) -> bool:
    """Tell whether a text is the address of a relay in its only spelling."""
    return len(text) <= MOST_ADDRESS_LETTERS and _ADDRESS.fullmatch(text) is not None


def _key(fields: Fields, name: str) -> str:
    text = fields.text(name)
    if from_text(text, KEY_BYTES) is None:
        fields.refuse(name, f"must be {KEY_BYTES} bytes in base64url without padding")
    return text
