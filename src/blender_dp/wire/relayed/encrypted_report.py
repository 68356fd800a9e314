"""Encrypted report of a relay client: HPKE for the collector, one length per head list.

HPKE (RFC 9180) in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM. ``info``
binds a report to its campaign and head list, so that it can be opened for no other::

    info      = "blender-dp relayed report 1", a zero byte, campaign id (16 bytes),
                SHA-256 digest of the head list (32 bytes)
    plaintext = version (1 byte: 1), report id (16 bytes), packed cell
                version (1 byte: 2), token (354 bytes), packed cell; if the list needs tokens
    encrypted = encapsulated key (32 bytes), ciphertext with its tag (16 bytes)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from blender_dp.core.errors import BrokenInvariantError, InputError, UnknownReportError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.relayed.listed_relay import KEY_BYTES
from blender_dp.wire.reports.packed_items import ItemPacking, from_text, table_of, to_text
from blender_dp.wire.reports.service_report import ID_BYTES, ReportFault, report_id_of
from blender_dp.wire.tokens.report_token import TOKEN_BYTES, token_rules

VERSION = 1
_TOKEN_VERSION = 2
"""Version of the plaintext with a token in place of the id."""
_DOMAIN = b"blender-dp relayed report 1\0"
_TAG_BYTES = 16
_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


class RelayedFault(StrEnum):
    """Reason why the collector does not count a relayed report."""

    LENGTH = "wrong-length"
    ENCRYPTION = "not-for-this-list"
    VERSION = "unknown-version"
    CELL = "not-expressible"
    TOKEN = str(ReportFault.NOT_SIGNED)


_SENTENCES = {
    RelayedFault.LENGTH: "the encrypted report must have the length of this head list",
    RelayedFault.ENCRYPTION: "the report must be encrypted for this campaign and head list",
    RelayedFault.VERSION: "the version of the report must be the one of this head list",
    RelayedFault.CELL: "the report must name one cell of this head list",
    RelayedFault.TOKEN: "the report's token must be signed with the key of this head list",
}


class RefusedRelayedReportError(UnknownReportError):
    """A relayed report is not counted; the message repeats nothing of it."""

    def __init__(self, fault: RelayedFault) -> None:
        self.fault = fault
        super().__init__(_SENTENCES[fault])


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedReport:
    """What a relay client says to the collector."""

    report_id: bytes
    cell: int
    token: bytes | None = None
    """The token that the id is a hash of; None if the list needs none."""

    @classmethod
    def with_token(cls, token: bytes, cell: int) -> "RelayedReport":
        """Return a report with the id of its token."""
        return cls(report_id=report_id_of(token), cell=cell, token=token)


class ReportEncryption:
    """Encrypts and decrypts the reports of one campaign; build it once and keep it."""

    def __init__(self, head_list: HeadList, *, campaign: UUID, digest: str) -> None:
        """Prepare for one list.

        Args:
            head_list: A list with a relay mechanism.
            campaign: The campaign of the list.
            digest: The digest of the whole list, as its signed document names it.
        """
        relayed = head_list.for_relay()
        self._packing = ItemPacking.of(relayed.mechanism.channels(relayed.cells)["record"])
        self._tokens = token_rules(head_list, campaign)
        self._version, self._name_bytes = (
            (VERSION, ID_BYTES) if self._tokens is None else (_TOKEN_VERSION, TOKEN_BYTES)
        )
        self._info = _DOMAIN + campaign.bytes + bytes.fromhex(digest.removeprefix("sha256:"))

    @property
    def length(self) -> int:
        """Bytes of every encrypted report."""
        return KEY_BYTES + 1 + self._name_bytes + self._packing.length + _TAG_BYTES

    def encrypt(self, report: RelayedReport, encryption_key: str) -> bytes:
        """Encrypt a report for the collector.

        Args:
            report: The report id, or the token, and the cell that the mechanism drew.
            encryption_key: The key that the signed head list names.
        """
        cell = self._packing.pack(table_of([report.cell], self._packing.size)).tobytes()
        name = report.report_id if report.token is None else report.token
        if len(name) != self._name_bytes:
            raise BrokenInvariantError("a report has a token exactly if its list needs one")
        plaintext = bytes([self._version]) + name + cell
        key = from_text(encryption_key, KEY_BYTES)
        try:
            return _SUITE.encrypt(
                plaintext, X25519PublicKey.from_public_bytes(key or b""), self._info
            )
        except ValueError:
            raise InputError("the head list", "names a key that cannot encrypt") from None

    def decrypt(self, encrypted: bytes, key: X25519PrivateKey) -> RelayedReport:
        """Decrypt and check a report, or raise :class:`RefusedRelayedReportError`."""
        if len(encrypted) != self.length:
            raise RefusedRelayedReportError(RelayedFault.LENGTH)
        try:
            plaintext = _SUITE.decrypt(encrypted, key, self._info)
        except InvalidTag:
            raise RefusedRelayedReportError(RelayedFault.ENCRYPTION) from None
        if plaintext[0] != self._version:
            raise RefusedRelayedReportError(RelayedFault.VERSION)
        name, packed = plaintext[1 : 1 + self._name_bytes], plaintext[1 + self._name_bytes :]
        named = self._packing.items_of(packed)
        if named is None:
            raise RefusedRelayedReportError(RelayedFault.CELL)
        if self._tokens is None:
            return RelayedReport(report_id=name, cell=named[0])
        if not self._tokens.is_valid(name):
            raise RefusedRelayedReportError(RelayedFault.TOKEN)
        return RelayedReport.with_token(name, named[0])


def encryption_key_of(key: X25519PrivateKey) -> str:
    """Return the public half of a collector's key, as the signed head list writes it."""
    return to_text(key.public_key().public_bytes_raw())


def relayed_report_document(digest: str, encryption_key: str, encrypted: bytes) -> dict[str, Any]:
    """Return one encrypted report as a device sends it to a relay.

    The relay compares list and key with those that it was shown itself. A collector that gives one
    device a key of its own, to recognise its report, thus gets no report from it.

    Args:
        digest: The digest of the head list.
        encryption_key: The key that the report is encrypted with, as the signed list writes it.
        encrypted: The encrypted report.
    """
    return {**_shared(digest, encryption_key), "report": to_text(encrypted)}


def relayed_reports_document(
    digest: str, encryption_key: str, encrypted: Iterable[bytes]
) -> dict[str, Any]:
    """Return many encrypted reports as one request to a relay: 1 to 10,000."""
    texts = [to_text(report) for report in encrypted]
    return {**_shared(digest, encryption_key), "reports": texts}


def _shared(digest: str, encryption_key: str) -> dict[str, Any]:
    return {"version": VERSION, "head_list": digest, "encryption_key": encryption_key}
