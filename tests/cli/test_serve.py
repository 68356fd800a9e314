"""The service as a process: starts from nothing, says where, stops when told, keeps its tokens."""

import asyncio
import json
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import httpx
import pytest
from cli.outcomes import Command, assert_refused
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Chain
from postgres_server import PostgresServer

Script = Callable[..., subprocess.Popen[str]]
_SECONDS = 60


@contextmanager
def serving(script: Script, data: Path, *options: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Start the service; give its address, and at the end what it said."""
    said: list[str] = []
    process = script("serve", "--data", data, "--port", "0", *options)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        address = ""
        while not address:
            line = process.stderr.readline()
            assert line, "it ended before it listened"
            said.append(line)
            written = json.loads(line)
            address = written["address"] if written["event"] == "listening" else ""
        yield address, said
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=_SECONDS)
        for line in err.splitlines(keepends=True):
            json.loads(line)  # nothing but JSON, whoever wrote it
            said.append(line)
        said.append(out)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def token_in(said: list[str]) -> str:
    found = re.search(r"operator token, shown this once: (\S+)", "".join(said))
    return found[1] if found else ""


def test_it_starts_from_nothing_and_makes_its_token_once(script: Script, tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    with serving(script, data) as (url, said):
        health = httpx.get(f"{url}/health")
        assert health.json()["status"] == "ok"
        page = httpx.get(url)
        assert (page.status_code, "make" in page.text or "<html" in page.text) == (200, True)
    assert '"event":"stopped"' in "".join(said)
    token = token_in(said)
    assert len(token) == 43
    with serving(script, data) as (url, again):
        answer = httpx.get(f"{url}/v1/whoami", headers={"authorization": f"Bearer {token}"})
        assert answer.json() == {"name": "operator", "role": "operator"}
    assert token_in(again) == ""
    assert {path.stat().st_mode & 0o077 for path in (data, data / "keys")} == {0}


def test_standard_error_that_nobody_reads_stops_nobody(script: Script, tmp_path: Path) -> None:
    requests = 1_200
    with serving(script, tmp_path / "data") as (url, said):  # reads its lines at the end only
        with httpx.Client(base_url=url, timeout=_SECONDS) as http:
            for _ in range(requests):
                assert http.get("/v1/nothing").status_code == 404
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=_SECONDS) as connection:
            connection.sendall(b"canary7f3a \x00 no HTTP at all\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 400"
        assert httpx.get(f"{url}/health", timeout=_SECONDS).status_code == 200
    lines = [json.loads(line) for line in said if line.startswith("{")]
    assert len("".join(said)) > 1 << 16  # what a pipe takes
    assert sum(line["event"] == "request" for line in lines) == requests + 1
    [library] = [line for line in lines if line["event"] == "library"]
    assert library["name"] == "uvicorn.error"
    assert "canary7f3a" not in "".join(said)
    assert lines[-1]["event"] == "stopped"


def test_the_first_token_can_go_to_a_file_that_nobody_else_reads(
    script: Script, tmp_path: Path
) -> None:
    data, path = tmp_path / "data", tmp_path / "token"
    for _ in range(2):  # the second start finds the token and makes none
        with serving(script, data, "--first-token-file", path) as (url, said):
            token = path.read_text(encoding="ascii").strip()
            answer = httpx.get(f"{url}/v1/whoami", headers={"authorization": f"Bearer {token}"})
            assert answer.json()["role"] == "operator"
        assert token not in "".join(said)
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_first_token_that_cannot_be_kept_is_not_made(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "missing" / "token"
    options = ("--data", tmp_path / "data")
    refused = command("serve", *options, "--first-token-file", path)
    assert_refused(refused, "token", "cannot be written")
    assert command("token", "list", *options).out == ""


@pytest.mark.parametrize(
    ("options", "is_believed"),
    [(("--proxy", "192.0.2.1"), False), (("--proxy", "127.0.0.0/8"), True)],
    ids=["another is the front end", "the sender is one"],
)
def test_only_a_named_front_end_says_where_a_request_comes_from(
    script: Script, tmp_path: Path, options: tuple[str, ...], is_believed: bool
) -> None:
    token = "A" * 43
    with serving(script, tmp_path / "data", *options) as (url, _):
        statuses = [
            httpx.get(
                f"{url}/v1/whoami",
                headers={"authorization": f"Bearer {token}", "x-forwarded-for": f"198.51.100.{n}"},
                timeout=_SECONDS,
            ).status_code
            for n in range(30)  # three times what one address may guess
        ]
    assert set(statuses) == ({401} if is_believed else {401, 429})


def test_what_is_no_address_of_a_front_end_is_one_sentence(
    command: Command, tmp_path: Path
) -> None:
    for address in ("front.example", "192.0.2.1/8", ""):
        outcome = command("serve", "--data", tmp_path / "data", "--proxy", address)
        assert_refused(outcome, "--proxy")


def test_a_port_that_is_taken_is_one_sentence(command: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = command("serve", "--data", tmp_path / "data", "--port", str(port))
    assert outcome.status == 2
    assert f"cannot listen on port {port}" in outcome.err
    assert "Traceback" not in outcome.err


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for loopback and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")])
    loopback = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(loopback, critical=False)
        .sign(key, SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return paths


def test_it_speaks_https_with_a_certificate(script: Script, tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path)
    options = ("--tls-certificate", certificate, "--tls-key", key)
    with serving(script, tmp_path / "data", *options) as (url, _):
        assert url.startswith("https://")
        trusting = ssl.create_default_context(cafile=certificate)
        assert httpx.get(f"{url}/health", verify=trusting).status_code == 200


async def _fresh_database(server: PostgresServer) -> str:
    return await server.fresh_database()


def test_several_processes_serve_one_database(
    script: Script, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    address = asyncio.run(_fresh_database(postgres_server))
    options = ("--database", address, "--workers", "2")
    with serving(script, tmp_path / "data", *options) as (url, said):
        answers = [httpx.get(f"{url}/health", timeout=_SECONDS).status_code for _ in range(4)]
        assert answers == [200] * 4
    assert len(token_in(said)) == 43


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--port=70000",), ("--port", "65535")),
        (("--workers=2",), ("--workers", "PostgreSQL")),
        (("--workers=0",), ("--workers",)),
        (("--tls-key=key.pem",), ("--tls-key", "--tls-certificate")),
        (("--database=mysql://somewhere",), ("--database", "postgresql://")),
    ],
)
def test_wrong_options_are_refused(
    command: Command, tmp_path: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    assert_refused(command("serve", "--data", tmp_path / "data", *options), *named)


def test_tokens_are_made_listed_and_revoked(command: Command, tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    made = command("token", "create", "Ann", "--role=analyst", *data)
    assert (made.status, len(made.out.strip()), made.err) == (0, 43, "")
    assert_refused(command("token", "create", "Ann", "--role=auditor", *data), "name", "Ann")
    listed = command("token", "list", *data)
    assert "Ann  analyst" in listed.out
    assert "valid" in listed.out
    assert made.out.strip() not in listed.out
    assert command("token", "revoke", "Ann", *data).out == "Ann: revoked\n"
    assert "revoked" in command("token", "list", *data).out
    assert_refused(command("token", "revoke", "Bob", *data), "name")
    assert command("token", "create", "Bob", "--role=king", *data).status == 2
    assert asyncio.run(noted(tmp_path / "data")) == ["token-created", "token-revoked"]


async def noted(data: Path) -> list[str]:
    """Return the kinds of all entries of a service's audit log."""
    store = await open_store(str(data / "service.sqlite"))
    try:
        return [entry["kind"] for entry in await store.log_entries(Chain.AUDIT, start=0, limit=9)]
    finally:
        await store.close()


def test_work_does_what_waits_and_stops(command: Command, tmp_path: Path) -> None:
    outcome = command("work", "--once", "--data", tmp_path / "data")
    assert (outcome.status, outcome.out) == (0, "")


def test_another_directory_of_keys_is_refused(command: Command, tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    assert command("work", "--once", *data).status == 0
    elsewhere = tmp_path / "elsewhere"
    refused = ("work", "--once", *data, "--keys", elsewhere)
    assert_refused(command(*refused), f"{elsewhere}: must be the directory of keys")
    assert list(elsewhere.iterdir()) == []
    assert command("work", "--once", *data).status == 0


def test_without_the_extra_the_way_to_get_it_is_said(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blender_dp.cli.service_options.is_installed", lambda _module: False)
    for arguments in (("serve",), ("work",), ("token", "list")):
        assert_refused(command(*arguments, "--data", tmp_path), "pip install 'blender-dp[service]'")
