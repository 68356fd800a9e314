"""OpenID Connect: only a token that the provider signed for this issuer, and that is valid now."""

import base64
import hmac
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from issuer.running import AUDIENCE, PROVIDER, StandInProvider, issuing

from blender_dp.issuer.logins.login import LoginRefusedError, LoginUnavailableError
from blender_dp.issuer.logins.openid_connect import OpenIdConnect

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def provider() -> StandInProvider:
    return StandInProvider()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def login(provider: StandInProvider, clock: Clock) -> AsyncIterator[OpenIdConnect]:
    made = OpenIdConnect(PROVIDER, AUDIENCE, transport=httpx.MockTransport(provider), clock=clock)
    yield made
    await made.close()


async def test_the_person_is_the_subject(provider: StandInProvider, login: OpenIdConnect) -> None:
    assert await login.subject(provider.token()) == "anna"
    assert await login.subject(provider.token(sub="bert", aud=["other", AUDIENCE])) == "bert"
    assert provider.reads == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://elsewhere.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "a" * 1025},
        {"azp": "anna"},
        {"exp": None},
        {"iat": None},
        {"exp": int(time.time()) - 3600},
        {"nbf": int(time.time()) + 3600},
        {"iat": int(time.time()) + 3600},
        {"headers": {"typ": "logout+jwt"}},
        {"headers": {"crit": ["exp"]}},
        {"headers": {"kid": "unknown"}},
        {"alg": "RS512"},
    ],
)
async def test_any_other_token_is_refused(
    provider: StandInProvider, login: OpenIdConnect, changed: dict[str, Any]
) -> None:
    with pytest.raises(LoginRefusedError):
        await login.subject(provider.token(**changed))


async def test_a_token_without_or_with_a_foreign_signature_is_refused(
    provider: StandInProvider, login: OpenIdConnect
) -> None:
    claims = jwt.decode(provider.token(), options={"verify_signature": False})
    public = provider.keys[provider.kid].public_key()
    pem = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    forged = [
        jwt.encode(claims, "", algorithm="none"),
        _signed_with_the_public_key(claims, pem, provider.kid),
        jwt.encode(claims, generate_private_key(65537, 2048), "RS256", {"kid": provider.kid}),
        provider.token()[:-4] + "AAAA",
        "no token",
        "a.b.c",
    ]
    for token in forged:
        with pytest.raises(LoginRefusedError):
            await login.subject(token)


def _signed_with_the_public_key(claims: dict[str, Any], public: bytes, kid: str) -> str:
    """Return a token by hand: the library itself refuses to sign so."""
    header, body, _ = jwt.encode(claims, "k" * 32, "HS256", {"kid": kid}).split(".")
    tag = hmac.digest(public, f"{header}.{body}".encode(), "sha256")
    return f"{header}.{body}.{base64.urlsafe_b64encode(tag).rstrip(b'=').decode()}"


async def test_new_keys_are_read_and_withdrawn_ones_are_not_used(
    provider: StandInProvider, login: OpenIdConnect, clock: Clock
) -> None:
    old = provider.token()
    assert await login.subject(old) == "anna"
    provider.rotate("second")
    clock.seconds += 31
    assert await login.subject(provider.token()) == "anna"
    with pytest.raises(LoginRefusedError):
        await login.subject(old)


async def test_invented_keys_do_not_make_it_ask_again_and_again(
    provider: StandInProvider, login: OpenIdConnect
) -> None:
    for number in range(20):
        with pytest.raises(LoginRefusedError):
            await login.subject(provider.token(headers={"kid": str(number)}))
    assert provider.reads == 1


async def test_keys_are_used_for_an_hour_if_the_provider_is_down(
    provider: StandInProvider, login: OpenIdConnect, clock: Clock
) -> None:
    token = provider.token()
    assert await login.subject(token) == "anna"
    provider.is_down = True
    clock.seconds += 3000
    assert await login.subject(token) == "anna"
    clock.seconds += 1000
    with pytest.raises(LoginUnavailableError):
        await login.subject(token)


@pytest.mark.parametrize(
    "changed", [{"issuer": "https://elsewhere.example"}, {"jwks_uri": "http://login.example/jwks"}]
)
async def test_a_discovery_document_of_another_is_not_used(
    provider: StandInProvider, login: OpenIdConnect, changed: dict[str, str]
) -> None:
    provider.discovery |= changed
    with pytest.raises(LoginUnavailableError):
        await login.subject(provider.token())


async def test_a_person_with_two_logins_gets_one_token(
    tmp_path: Path, provider: StandInProvider, login: OpenIdConnect
) -> None:
    async with issuing(tmp_path, login) as issuer:
        assert await issuer.token(provider.token())
        answer = await issuer.ask(b"", provider.token(iat=int(time.time()) - 5))
        assert answer.status_code == 422
        with pytest.raises(AssertionError, match="token-issued-already"):
            await issuer.token(provider.token(iat=int(time.time()) - 5))
