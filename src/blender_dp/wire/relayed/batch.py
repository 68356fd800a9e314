"""Batch of a relay: its signed statement, and the pieces in which it is sent; version 1.

A statement says what became of all reports of a campaign: forwarded as one batch (how many, in how
many pieces, and the digest of all of them in the order sent), or destroyed because they were too
few or the collector waited no longer. The signature is over ``blender-dp relay statement 1``, a
zero byte and the statement in canonical form. Pieces are numbered from 0. Of P pieces each has
⌈count/P⌉ reports, and the last one has the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.wire.documents.document import canonical
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.reports.packed_items import rows_of_texts, to_text
from blender_dp.wire.reports.service_report import MOST_REPORTS
from blender_dp.wire.service.hash_chain import is_campaign_id, is_digest
from blender_dp.wire.service.signatures import require_signature, signature_fields

VERSION = 1
_DOMAIN = b"blender-dp relay statement 1\0"
_WHAT = "the relay's statement"
_SIGNED_FIELDS = ("version", "statement", "public_key", "signature")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """Statement of a relay that it sends all reports of a campaign as one batch."""

    campaign: UUID
    head_list: str
    """The digest of the head list."""
    count: int
    pieces: int
    digest: str
    """Digest of all encrypted reports, one after the other in the order sent."""

    @property
    def piece_size(self) -> int:
        """Reports of every piece but the last."""
        return -(-self.count // self.pieces)

    def size_of(self, piece: int) -> int:
        """Return the number of reports of one piece."""
        return min(self.piece_size, self.count - piece * self.piece_size)

    def document(self) -> dict[str, Any]:
        """Return the statement without its signature."""
        return {
            **_shared(self),
            "pieces": self.pieces,
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Destroyed:
    """Statement of a relay that it destroyed all reports of a campaign and forwards none."""

    campaign: UUID
    head_list: str
    count: int

    def document(self) -> dict[str, Any]:
        """Return the statement without its signature."""
        return {**_shared(self), "destroyed": True}


Statement = Forwarded | Destroyed


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedStatement:
    """A statement with the key that signed it."""

    statement: Statement
    public_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPiece:
    """One piece of a batch, under the statement about the whole."""

    statement: Forwarded
    public_key: str
    piece: int
    """Its number, from 0."""
    encrypted: bytes
    """All reports of the piece, one after the other."""


def statement_document(statement: Statement, key: Ed25519PrivateKey) -> dict[str, Any]:
    """Return a statement signed by the relay."""
    return {
        "version": VERSION,
        "statement": statement.document(),
        **signature_fields(key, _message(statement)),
    }


def piece_document(
    signed_statement: Mapping[str, Any], piece: int, reports: Sequence[bytes]
) -> dict[str, Any]:
    """Return one piece as the relay sends it to the collector.

    Args:
        signed_statement: The document of :func:`statement_document`.
        piece: The number of the piece, from 0.
        reports: The encrypted reports of this piece.
    """
    return {
        **signed_statement,
        "piece": piece,
        "reports": [to_text(report) for report in reports],
    }


def read_statement(document: Mapping[str, Any]) -> SignedStatement:
    """Check a statement and its signature, or refuse it."""
    fields = Fields(_WHAT, document)
    fields.only(*_SIGNED_FIELDS)
    return _signed_statement(fields, document)


def read_piece(document: Mapping[str, Any], report_length: int) -> BatchPiece:
    """Check one piece of a batch, and the statement that comes with it, or refuse it.

    Args:
        document: What a relay posted.
        report_length: Bytes of every encrypted report of the campaign.
    """
    fields = Fields(_WHAT, document)
    fields.only(*_SIGNED_FIELDS, "piece", "reports")
    signed = _signed_statement(fields, document)
    statement = signed.statement
    if not isinstance(statement, Forwarded):
        fields.refuse("statement", "must be about a batch that is forwarded")
    piece = fields.whole("piece", at_least=0)
    if piece >= statement.pieces:
        fields.refuse("piece", "must be below the number of pieces")
    texts = fields.texts("reports")
    if len(texts) != statement.size_of(piece):
        fields.refuse("reports", "must have as many reports as the statement gives this piece")
    rows = rows_of_texts(texts, report_length)
    if rows is None:
        fields.refuse("reports", f"must each be {report_length} bytes in base64url without padding")
    return BatchPiece(
        statement=statement, public_key=signed.public_key, piece=piece, encrypted=rows.tobytes()
    )


def _signed_statement(fields: Fields, document: Mapping[str, Any]) -> SignedStatement:
    version = fields.value("version")
    if type(version) is not int or version != VERSION:
        fields.refuse("version", f"must be {VERSION}")
    statement = _statement(fields.part("statement"))
    key = require_signature(_WHAT, document, _message(statement))
    return SignedStatement(statement=statement, public_key=key)


def _statement(fields: Fields) -> Statement:
    campaign, head_list = fields.text("campaign"), fields.text("head_list")
    if not is_campaign_id(campaign):
        fields.refuse("campaign", "must be the id of a campaign")
    if not is_digest(head_list):
        fields.refuse("head_list", "must be the digest of a head list")
    shared: dict[str, Any] = {"campaign": UUID(campaign), "head_list": head_list}
    if fields.has("destroyed"):
        fields.only("campaign", "head_list", "count", "destroyed")
        if not fields.flag("destroyed"):
            fields.refuse("destroyed", "must be true if it is there")
        return Destroyed(**shared, count=fields.whole("count", at_least=0))
    fields.only("campaign", "head_list", "count", "pieces", "digest")
    forwarded = Forwarded(
        **shared,
        count=fields.whole("count", at_least=1),
        pieces=fields.whole("pieces", at_least=1),
        digest=fields.text("digest"),
    )
    if not is_digest(forwarded.digest):
        fields.refuse("digest", "must be the digest of all reports")
    if forwarded.piece_size > MOST_REPORTS or forwarded.size_of(forwarded.pieces - 1) < 1:
        fields.refuse("pieces", f"must each have 1 to {MOST_REPORTS:,} reports")
    return forwarded


def _shared(statement: Statement) -> dict[str, Any]:
    return {
        "campaign": str(statement.campaign),
        "head_list": statement.head_list,
        "count": statement.count,
    }


def _message(statement: Statement) -> bytes:
    return _DOMAIN + canonical(statement.document())
