"""Report token: asked for blindly, sent inside one report (Privacy Pass, RFC 9578, type 2).

::

    challenge    = type (2 bytes: 0, 2), issuer name "blender-dp" after its length (2 bytes),
                   context (32 bytes) after its length (1 byte), no origin: length 0 (2 bytes)
    context      = SHA-256 of "blender-dp report token 1", a zero byte, campaign id (16 bytes)
    signed       = type, nonce (32 bytes), SHA-256 of the challenge, SHA-256 of the issuer's key
    token        = signed, authenticator (256 bytes: the signature)
    request      = type, last byte of the SHA-256 of the key, blinded message (256 bytes)

The id of the report is a hash of the authenticator. Nobody can compute a signature before it is
issued, so nobody chooses an id, and with it the question that is asked.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.tokens.blind_rsa import (
    SALT_BYTES,
    Blinding,
    BlindSignatureError,
    blind,
    draw_factor,
    is_signed,
    unblind,
)
from blender_dp.wire.tokens.token_key import MODULUS_BYTES, TokenKey, read_token_key

NONCE_BYTES = 32
_TYPE = b"\0\2"
_ISSUER = b"blender-dp"
_DOMAIN = b"blender-dp report token 1\0"
_SIGNED_BYTES = len(_TYPE) + NONCE_BYTES + 2 * 32
TOKEN_BYTES = _SIGNED_BYTES + MODULUS_BYTES
REQUEST_BYTES = len(_TYPE) + 1 + MODULUS_BYTES
RESPONSE_BYTES = MODULUS_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSecret:
    """What a device keeps from the request to the token; with it the issuer could find the report.

    A device asks again with the same secret until it has an answer: another request is refused.
    """

    nonce: bytes = field(repr=False)
    blinding: Blinding = field(repr=False)

    @classmethod
    def draw(cls, key: TokenKey) -> "TokenSecret":
        """Draw a secret for one token."""
        factor = draw_factor(key.public.public_numbers().n)
        blinding = Blinding(salt=os.urandom(SALT_BYTES), factor=factor)
        return cls(nonce=os.urandom(NONCE_BYTES), blinding=blinding)

    def to_bytes(self) -> bytes:
        """Return the secret as a device stores it."""
        factor = self.blinding.factor.to_bytes(MODULUS_BYTES)
        return self.nonce + self.blinding.salt + factor

    @classmethod
    def from_bytes(cls, stored: bytes) -> "TokenSecret":
        """Return the secret that :meth:`to_bytes` wrote."""
        nonce, rest = stored[:NONCE_BYTES], stored[NONCE_BYTES:]
        factor = int.from_bytes(rest[SALT_BYTES:])
        return cls(nonce=nonce, blinding=Blinding(salt=rest[:SALT_BYTES], factor=factor))


class TokenRules:
    """Tokens of one campaign: how they are asked for, put together and checked."""

    def __init__(self, key: TokenKey, campaign: UUID) -> None:
        self.key, self.campaign = key, campaign
        self._shared = challenge_digest(_challenge(campaign)) + key.id

    def request(self, secret: TokenSecret) -> bytes:
        """Return the request for a token, which tells the issuer nothing about it."""
        return token_request(self.key, self.token_input(secret.nonce), secret.blinding)

    def token(self, secret: TokenSecret, response: bytes) -> bytes:
        """Return the token after the issuer's answer.

        Raises:
            BlindSignatureError: It is not signed with the published key.
        """
        signed = self.token_input(secret.nonce)
        return signed + unblind(signed, self.key.public, secret.blinding, response)

    def is_valid(self, token: bytes) -> bool:
        """Tell whether a token is signed by the issuer, for this campaign."""
        signed, authenticator = token[:_SIGNED_BYTES], token[_SIGNED_BYTES:]
        if signed[: len(_TYPE)] != _TYPE or signed[len(_TYPE) + NONCE_BYTES :] != self._shared:
            return False
        return is_signed(signed, self.key.public, authenticator)

    def are_valid(self, tokens: Sequence[bytes]) -> bool:
        """Tell whether all of these tokens are valid."""
        return all(map(self.is_valid, tokens))

    def token_input(self, nonce: bytes) -> bytes:
        """Return the part of a token that is signed."""
        return _TYPE + nonce + self._shared


def token_rules(head_list: HeadList, campaign: UUID) -> TokenRules | None:
    """Return the tokens that reports against a list need; None if they need none."""
    if head_list.token_key is None:
        return None
    key = read_token_key(head_list.token_key)
    if key is None:
        raise BrokenInvariantError("the key of a head list's tokens is read with its rules")
    return TokenRules(key, campaign)


def authenticator_of(token: bytes) -> bytes:
    """Return the signature of a token, which nobody knew before it was issued."""
    return token[_SIGNED_BYTES:]


def challenge_digest(challenge: bytes) -> bytes:
    """Return the digest by which a token names the challenge that it answers (RFC 9577)."""
    return hashlib.sha256(challenge).digest()


def token_request(key: TokenKey, signed: bytes, blinding: Blinding) -> bytes:
    """Return the request for a signature of a token (RFC 9578 section 6.1)."""
    return _TYPE + key.id[-1:] + blind(signed, key.public, blinding)


def blinded_message_in(request: bytes, key: TokenKey) -> bytes:
    """Return the blinded message of a request for this key.

    Raises:
        BlindSignatureError: It is a request of another type or for another key.
    """
    before = _TYPE + key.id[-1:]
    if len(request) != REQUEST_BYTES or not request.startswith(before):
        raise BlindSignatureError("the request must be one for this campaign's key")
    return request[len(before) :]


def _challenge(campaign: UUID) -> bytes:
    context = hashlib.sha256(_DOMAIN + campaign.bytes).digest()
    issuer, no_origin = len(_ISSUER).to_bytes(2) + _ISSUER, bytes(2)
    return _TYPE + issuer + len(context).to_bytes(1) + context + no_origin
