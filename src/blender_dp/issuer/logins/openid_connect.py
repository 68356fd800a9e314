"""OpenID Connect: a signed token (JWT) of the operator's provider says who a caller is.

The provider's keys are read from its discovery document. A token counts only if it is signed with
one of them by an asymmetric algorithm, was issued by this provider for this issuer (audience), and
is valid now. The person is its ``sub``. A token that a program got for itself names no person.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import OKPAlgorithm

from blender_dp.core.errors import InputError
from blender_dp.issuer.logins.login import (
    MOST_ANSWER_BYTES,
    MOST_SUBJECT,
    SECONDS,
    LoginRefusedError,
    LoginUnavailableError,
)
from blender_dp.server.addresses import is_private_channel
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.strict_json import read_object

ALGORITHMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **{f"{name}{bits}": ("RSA", ()) for name in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", ("P-256",)),
    "ES384": ("EC", ("P-384",)),
    "ES512": ("EC", ("P-521",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
    "Ed25519": ("OKP", ("Ed25519",)),
    "Ed448": ("OKP", ("Ed448",)),
}
"""Signatures that are taken, with type and curves of their keys. None has a shared secret."""
for _curve in ("Ed25519", "Ed448"):  # RFC 9864's names for EdDSA, which PyJWT does not know yet
    with suppress(ValueError):
        jwt.register_algorithm(_curve, OKPAlgorithm())
_TYPES = (None, "JWT", "at+jwt", "application/at+jwt")
"""Types of tokens that are for a login; others, such as of a logout, are refused."""
_LEEWAY_SECONDS = 60
_LEAST_RSA_BITS = 2048
_AGAIN_SECONDS = 30.0
"""Keys are not read more often than this, whatever callers send."""
_FRESH_SECONDS = 600.0
"""Keys are read again after this time: the provider may have withdrawn one."""
_STALE_SECONDS = 3600.0
"""Keys are not used longer than this if the provider does not answer."""
_MOST_KEYS = 64
_WHAT = "the provider's answer"


class OpenIdConnect:
    """A login by tokens of one provider; belongs to one event loop."""

    def __init__(
        self,
        provider: str,
        audience: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider, self._audience, self._clock = provider, audience, clock
        self._client = httpx.AsyncClient(
            timeout=SECONDS, headers={"user-agent": "blender-dp"}, transport=transport
        )
        self._keys: Sequence[Mapping[str, Any]] = ()
        self._read_at = self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    async def subject(self, credential: str) -> str:
        """Return the ``sub`` of a valid token."""
        header = _header(credential)
        if self._clock() - self._read_at > _FRESH_SECONDS:
            await self._read_again()
        if not list(_usable(self._keys, header)):  # perhaps the provider has a new key
            await self._read_again()
        if self._clock() - self._read_at > _STALE_SECONDS:
            raise LoginUnavailableError
        for key in _usable(self._keys, header):
            claims = self._claims(credential, header, key)
            if claims is not None:
                return _subject(claims)
        raise LoginRefusedError

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()

    def _claims(
        self, credential: str, header: Mapping[str, Any], key: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return what a token says; None if this key did not sign it, or it is not valid now."""
        try:
            public = jwt.get_algorithm_by_name(header["alg"]).from_jwk(dict(key))
            if isinstance(public, RSAPublicKey) and public.key_size < _LEAST_RSA_BITS:
                return None
            claims: Mapping[str, Any] = jwt.decode(
                credential,
                public,
                algorithms=[header["alg"]],
                issuer=self._provider,
                audience=self._audience,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            return None
        return claims

    async def _read_again(self) -> None:
        """Read the provider's keys, unless that was tried a moment ago."""
        async with self._reading:
            if self._clock() - self._tried_at < _AGAIN_SECONDS:
                return
            self._tried_at = self._clock()
            try:
                self._keys = await self._read_keys()
            except (httpx.HTTPError, InputError, LoginUnavailableError):
                return  # the keys from before are used until they are stale
            self._read_at = self._clock()

    async def _read_keys(self) -> Sequence[Mapping[str, Any]]:
        base = self._provider.rstrip("/")
        found = Fields(_WHAT, await self._get(f"{base}/.well-known/openid-configuration"))
        address = found.text("jwks_uri")
        if found.text("issuer") != self._provider or not is_private_channel(address):
            raise LoginUnavailableError
        keys = (await self._get(address)).get("keys")
        if not isinstance(keys, list):
            raise LoginUnavailableError
        return [key for key in keys[:_MOST_KEYS] if isinstance(key, dict)]

    async def _get(self, address: str) -> dict[str, Any]:
        answer = await self._client.get(address)
        if answer.status_code != 200 or len(answer.content) > MOST_ANSWER_BYTES:
            raise LoginUnavailableError
        return read_object(_WHAT, answer.content)


def _header(credential: str) -> Mapping[str, Any]:
    """Return the header of a token whose algorithm and type are taken."""
    try:
        header: Mapping[str, Any] = jwt.get_unverified_header(credential)
    except (jwt.PyJWTError, ValueError):
        raise LoginRefusedError from None
    is_taken = header.get("alg") in ALGORITHMS and header.get("typ") in _TYPES
    if not is_taken or "crit" in header:
        raise LoginRefusedError
    return header


def _usable(
    keys: Sequence[Mapping[str, Any]], header: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """Yield the keys that may have signed a token with this header."""
    name = header["alg"]
    kind, curves = ALGORITHMS[name]
    for key in keys:
        is_named = "kid" not in header or key.get("kid") == header["kid"]
        is_for_it = key.get("use", "sig") == "sig" and key.get("alg", name) == name
        has_type = key.get("kty") == kind and (not curves or key.get("crv") in curves)
        if is_named and is_for_it and has_type:
            yield key


def _subject(claims: Mapping[str, Any]) -> str:
    """Return the person; a program's own token has the program as ``sub`` (RFC 9068)."""
    subject = claims["sub"]
    if subject in (claims.get("client_id"), claims.get("azp")):
        raise LoginRefusedError
    if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT:
        raise LoginRefusedError
    return subject
