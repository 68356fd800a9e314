"""A real OpenID Connect provider: people sign in there, and ``blender-dp issuer`` knows them."""

import base64
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from end_to_end.kills.stand_in_server import StandInApp, listening
from issuer.real_provider import RealProvider, running_provider
from issuer.running import AUDIENCE, CAMPAIGN, Device, StandInCollector
from issuer.test_openid_connect import Clock
from running_service import PATIENCE, found_in

from blender_dp.issuer.logins.login import LoginRefusedError, LoginUnavailableError
from blender_dp.issuer.logins.openid_connect import ALGORITHMS, OpenIdConnect
from blender_dp.wire.tokens.report_token import TokenSecret

pytestmark = pytest.mark.anyio


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[RealProvider]:
    with running_provider(tmp_path / "provider.err") as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def login(provider: RealProvider, clock: Clock) -> AsyncIterator[OpenIdConnect]:
    made = OpenIdConnect(provider.address, AUDIENCE, clock=clock)
    yield made
    await made.close()


@asynccontextmanager
async def device_of(issuer: Path, provider: str) -> AsyncIterator[Device]:
    """Start ``blender-dp issuer`` behind a provider; a campaign is open for its tokens."""
    collector, complaints = StandInCollector(), issuer / "issuer.err"
    async with listening(StandInApp(collector)) as address:
        command = [sys.executable, "-m", "blender_dp.cli", "issuer", "--port", "0"]
        command += ["--collector", address, "--data", str(issuer / "data")]
        command += ["--openid-provider", provider, "--audience", AUDIENCE]
        with (issuer / "issuer.out").open("wb") as out, complaints.open("wb") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err)
        try:
            url = found_in(process, complaints, r'"event":"listening","address":"([^"]+)"')
            async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
                collector.publish(CAMPAIGN, (await http.get("/v1/key")).json()["public_key"])
                yield Device(http=http, collector=collector)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def of_another_person(token: str) -> str:
    """Return the token with another ``sub`` and the old signature."""
    header, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    changed = json.dumps(claims | {"sub": "carol"}).encode()
    return f"{header}.{base64.urlsafe_b64encode(changed).rstrip(b'=').decode()}.{signature}"


async def test_each_person_gets_one_token_by_what_the_provider_signs(
    tmp_path: Path, provider: RealProvider
) -> None:
    with running_provider(tmp_path / "twin.err") as twin:
        foreign = twin.access_token("carol")
        twin.change(issuer=provider.address)
        pretended = twin.access_token("carol")
    provider.change(issuer="https://login.example/another-tenant")
    of_tenant = provider.access_token("carol")
    provider.change(issuer=None)
    anna = provider.access_token("anna")
    refused = {
        "of another provider": foreign,
        "of another that takes its name": pretended,
        "of another tenant with the same keys": of_tenant,
        "of another audience": provider.access_token("carol", audience="elsewhere"),
        "ID token of another app": provider.id_token("carol", app="another-app"),
        "tampered": of_another_person(anna),
        "of no person": provider.token_of_a_program(),
    }
    async with device_of(tmp_path, provider.address) as device:
        assert await device.token(anna)
        assert await device.token(provider.id_token("bert"))
        for again in (provider.access_token("anna", app="another-app"), provider.id_token("anna")):
            with pytest.raises(AssertionError, match="token-issued-already"):
                await device.token(again)
        request = device.rules().request(TokenSecret.draw(device.rules().key))
        answers = {why: await device.ask(request, one) for why, one in refused.items()}
        assert {why for why, answer in answers.items() if answer.status_code != 401} == set()
        assert await device.token(provider.access_token("carol"))
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not [name for name in (b"anna", b"bert", b"carol", anna.encode()) if name in written]


async def test_keys_are_found_changed_and_withdrawn(
    provider: RealProvider, login: OpenIdConnect, clock: Clock
) -> None:
    for algorithm in {*ALGORITHMS, *provider.algorithms()} - {"Ed448"}:  # it has none
        assert await login.subject(provider.access_token("anna", algorithm=algorithm)) == "anna"
    first = provider.access_token("anna")
    provider.change(keys=["second", "first"])
    second = provider.access_token("bert")
    clock.seconds += 31
    assert [await login.subject(token) for token in (first, second)] == ["anna", "bert"]
    provider.change(keys=["second"], behind=2000)
    expired = provider.access_token("bert")
    clock.seconds += 601
    assert await login.subject(second) == "bert"
    for token in (first, expired):
        with pytest.raises(LoginRefusedError):
            await login.subject(token)
    provider.stop()
    clock.seconds += 2900
    assert await login.subject(second) == "bert"
    clock.seconds += 100 + 601
    with pytest.raises(LoginUnavailableError):
        await login.subject(second)
