"""A real OpenID Connect provider on loopback, and people who sign in there with a browser."""

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx
import pytest
from issuer.running import AUDIENCE
from running_service import PATIENCE
from web.client_site import ENVIRONMENT, WEB

LIBRARY = WEB / "node_modules" / "oidc-provider" / "lib" / "index.js"
_SIGNED_IN = "http://127.0.0.1/signed-in"
_VERIFIER = "what-only-the-app-knows-" * 2


class RealProvider:
    """The provider as its operator sees it, and as people and programs do."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._read()

    def change(self, **state: Any) -> None:
        """Publish other keys, set the clock or the provider's own name; see the program."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(state) + "\n")
        self._process.stdin.flush()
        self._read()

    def stop(self) -> None:
        """End the provider, as if it was down."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE)

    def algorithms(self) -> list[str]:
        """Return how the provider signs, as it says itself."""
        found = httpx.get(
            f"{self.address}/.well-known/openid-configuration", timeout=PATIENCE
        ).json()
        named: list[str] = found["id_token_signing_alg_values_supported"]
        return named

    def sign_in(self, person: str, *, app: str, resource: str) -> dict[str, str]:
        """Return an app's tokens after a login in a new browser (authorization code, PKCE)."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(_VERIFIER.encode()).digest())
        wanted = {
            "client_id": app,
            "response_type": "code",
            "redirect_uri": _SIGNED_IN,
            "scope": "openid report",
            "resource": resource,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        ended = self._browse(f"/auth?{urlencode(wanted)}", person)
        return self._tokens(
            grant_type="authorization_code",
            code=parse_qs(urlsplit(ended).query)["code"][0],
            client_id=app,
            redirect_uri=_SIGNED_IN,
            code_verifier=_VERIFIER,
            resource=resource,
        )

    def access_token(
        self,
        person: str,
        *,
        app: str = AUDIENCE,
        audience: str = AUDIENCE,
        algorithm: str = "RS256",
    ) -> str:
        """Return a JWT for an audience that an app gets for a person."""
        resource = f"https://{audience}/{algorithm}"
        return self.sign_in(person, app=app, resource=resource)["access_token"]

    def id_token(self, person: str, *, app: str = AUDIENCE) -> str:
        """Return what tells an app who signed in."""
        return self.sign_in(person, app=app, resource=f"https://{AUDIENCE}/RS256")["id_token"]

    def token_of_a_program(self) -> str:
        """Return a JWT that a program gets for itself, without a person (client credentials)."""
        return self._tokens(
            grant_type="client_credentials",
            client_id="program",
            client_secret="secret-of-the-program",  # noqa: S106 - of the provider of this test
            scope="report",
            resource=f"https://{AUDIENCE}/RS256",
        )["access_token"]

    def _browse(self, path: str, person: str) -> str:
        """Fill in the forms for login and consent; return where the browser is sent at the end."""
        address = self.address + path
        with httpx.Client(timeout=PATIENCE) as browser:
            while not address.startswith(_SIGNED_IN):
                page = browser.get(address)
                if page.status_code == 200:
                    form = re.search(r'<form[^>]* action="([^"]+)"', page.text)
                    prompt = re.search(r'name="prompt" value="(\w+)"', page.text)
                    assert form, page.text
                    assert prompt, page.text
                    filled = {"prompt": prompt[1], "login": person, "password": "any"}
                    page = browser.post(urljoin(address, form[1]), data=filled)
                address = urljoin(address, page.headers["location"])
        return address

    def _tokens(self, **wanted: str) -> dict[str, str]:
        answer = httpx.post(f"{self.address}/token", data=wanted, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        tokens: dict[str, str] = answer.json()
        return tokens

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the provider ended; its complaints are in its file"
        return line.strip()


@contextmanager
def running_provider(complaints: Path) -> Iterator[RealProvider]:
    """Start a provider in a process of its own, and stop it at the end."""
    if not LIBRARY.is_file():
        pytest.skip("what is in web/ is not installed; run: make .make/web")
    program = ["node", str(Path(__file__).with_suffix(".mjs")), str(LIBRARY)]
    pipe = subprocess.PIPE
    with (
        complaints.open("wb") as err,
        subprocess.Popen(
            program, stdin=pipe, stdout=pipe, stderr=err, text=True, env=ENVIRONMENT
        ) as process,
    ):
        provider = RealProvider(process)
        try:
            yield provider
        finally:
            provider.stop()
