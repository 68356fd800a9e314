"""A stand-in for a service, for what the real one never does: hostile lists, lost answers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from blender_dp.client.transport import Answer, UnreachableError, require_good
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.relayed.encrypted_report import encryption_key_of
from blender_dp.wire.relayed.listed_relay import ListedRelay
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.service.contribution import consent_digest
from blender_dp.wire.service.hash_chain import entry
from blender_dp.wire.service.signatures import public_key_of
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.service.signed_log import log_document
from blender_dp.wire.tokens.blind_signer import BlindSigner
from blender_dp.wire.tokens.report_token import REQUEST_BYTES, blinded_message_in
from blender_dp.wire.tokens.token_key import TokenKey

CAMPAIGN = UUID(int=1)
OTHER_CAMPAIGN = UUID(int=2)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CONSENT = "I hand over what I searched for, é★."
SHARP = SubsetSelectionMechanism(epsilon=2.0, query_share=0.25)
LOCAL_ALG = LocalAlgMechanism(
    epsilon=2.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
)
RELAY_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(2, 34)))
DECRYPTION_KEY = X25519PrivateKey.from_private_bytes(bytes(range(3, 35)))
RELAYED = RelayMechanism(
    epsilon=2.0, delta=5e-6, report_epsilon=6.0, least_batch=20_000, dishonest=0.2
)


_VECTORS = Path(__file__).parents[2] / "test_vectors" / "report_tokens.json"
TOKEN_SIGNING = cast(
    "RSAPrivateKey",
    load_pem_private_key(
        json.loads(_VECTORS.read_text(encoding="utf-8"))["private_key"].encode(), password=None
    ),
)
TOKEN_KEY = TokenKey(TOKEN_SIGNING.public_key())


def relay_at(address: str = "https://relay.example/") -> ListedRelay:
    """Return the relay of a campaign, as a signed list names it."""
    return ListedRelay(
        address=address,
        public_key=public_key_of(RELAY_KEY),
        encryption_key=encryption_key_of(DECRYPTION_KEY),
    )


def relay_description(
    relay: ListedRelay, mechanism: RelayMechanism = RELAYED, *, epsilon_cap: str = "8.0"
) -> dict[str, Any]:
    """Return the relay as a campaign's description has it."""
    return {
        "address": relay.address,
        "public_key": relay.public_key,
        "least_batch": mechanism.least_batch,
        "epsilon_cap": epsilon_cap,
        "dishonest": repr(mechanism.dishonest),
    }


def description(
    campaign: UUID = CAMPAIGN, *, epsilon: str = "8.0", relay: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return what an honest service says of a campaign."""
    return {
        **({} if relay is None else {"relay": relay}),
        "id": str(campaign),
        "name": "searches",
        "purpose": "find what is popular",
        "consent": {"version": "1", "text": CONSENT},
        "parameters": {"epsilon": epsilon, "delta": "1e-05"},
    }


def described_by(campaign: UUID) -> str:
    """Return the digest of that description."""
    return digest_of(description(campaign))


Answering = Callable[[str, str, bytes], tuple[int, Any, dict[str, str]]]


def head_list(
    *, queries: int = 40, mechanism: Mechanism = SHARP, private: bool = True, mark: str = ""
) -> HeadList:
    records = [
        Record(f"query {q:03}{mark}", f"{u}.example") for q in range(queries) for u in (1, 2)
    ]
    return HeadList.of(records, mechanism=mechanism, private=private)


class StandIn:
    """What was received, and what is answered."""

    def __init__(self) -> None:
        self.descriptions: dict[UUID, dict[str, Any]] = {}
        """Where they are not those of an honest service."""
        self.lists: dict[UUID, dict[str, Any]] = {}
        self.log: list[dict[str, Any]] = []
        self.log_key = KEY
        for campaign in _CAMPAIGNS:
            self.publish(campaign=campaign)
        self.state = "clients-open"
        self.bodies: list[bytes] = []
        self.uploads: list[bytes] = []
        self.requests: list[tuple[str, str, str | None]] = []
        self.answers: list[tuple[int, Any, dict[str, str]]] = []
        """Given first, before what an honest service would say."""
        self.report_answers: list[tuple[int, Any, dict[str, str]]] = []
        """Given to reports first; what is answered so was not received."""
        self.opt_in_answers: list[tuple[int, Any, dict[str, str]]] = []
        """Given to contributions and withdrawals first."""
        self.relayed: list[bytes] = []
        """What the relay received."""
        self.relay_answers: list[tuple[int, Any, dict[str, str]]] = []
        """Given to relayed reports first; what is answered so was not received."""
        self.token_requests: list[bytes] = []
        """What was asked of the issuer."""
        self.token_answers: list[tuple[int, Any, dict[str, str]]] = []
        """Given to requests for tokens first."""
        self.url = ""

    def publish_with_tokens(
        self, *, campaign: UUID = CAMPAIGN, has_relay: bool = False, **described: Any
    ) -> HeadList:
        """Publish the list of a campaign whose reports need tokens, and its description."""
        listed = self.publish_for_relay(campaign=campaign) if has_relay else head_list()
        listed = replace(listed, token_key=TOKEN_KEY.text)
        honest = {**self.described(campaign), "reports": "token", **described}
        self.descriptions[campaign] = honest
        relay = relay_at(f"{self.url}/relay/" if self.url else "https://relay.example/")
        self.publish(listed, campaign=campaign, relay=relay if has_relay else None)
        return listed

    def publish_for_relay(
        self, mechanism: RelayMechanism = RELAYED, *, campaign: UUID = CAMPAIGN
    ) -> HeadList:
        """Publish the list of a campaign with a relay, and its description."""
        relay = relay_at(f"{self.url}/relay/" if self.url else "https://relay.example/")
        described = description(campaign, relay=relay_description(relay, mechanism))
        self.descriptions[campaign] = described
        listed = replace(head_list(), relay=mechanism)
        self.publish(listed, campaign=campaign, relay=relay)
        return listed

    def publish(
        self,
        listed: HeadList | None = None,
        *,
        campaign: UUID = CAMPAIGN,
        key: Ed25519PrivateKey = KEY,
        relay: ListedRelay | None = None,
    ) -> None:
        """Sign a list and enter it in the log, as an honest service does."""
        document = head_list_document(listed or head_list())
        made = self.next_entry(campaign, document["digest"])
        self.log.append(made)
        self.lists[campaign] = signed_head_list_document(
            document,
            made,
            campaign=campaign,
            description=digest_of(self.described(campaign)),
            key=key,
            relay=relay,
        )

    def described(self, campaign: UUID) -> dict[str, Any]:
        return self.descriptions.get(campaign) or description(campaign)

    def next_entry(self, campaign: UUID, digest: str) -> dict[str, Any]:
        last = self.log[-1] if self.log else None
        return entry(last, kind="head-list", campaign=campaign, digest=digest, time=START)

    def piece(self, start: int) -> dict[str, Any]:
        return log_document(self.log[start : start + 10], self.log_key)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        """Return what the service says, or its relay."""
        is_relay = path.startswith("/relay/")
        return self._relay(body) if is_relay else self._serve(method, path, body)

    def _serve(self, method: str, path: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        if path.startswith("/v1/log?from="):
            return 200, self.piece(int(path.partition("=")[2])), {}
        _, _, _, campaign, *rest = path.split("/")
        route = (method, *rest)
        if route == ("GET", "head-list"):
            return 200, self.lists[UUID(campaign)], {}
        if rest == ["opt-in"]:
            return self._opt_in(method, body)
        taking = {"reports": self._report, "report-token": self._issue, "enrol": self._enrol}
        if method == "POST" and rest[0] in taking:
            return taking[rest[0]](body)
        consent = {"version": "1", "text": CONSENT, "text_digest": consent_digest(CONSENT)}
        described = self.described(UUID(campaign))
        answer = {"state": self.state, "consent": consent, "description": described}
        return 200, answer, {}

    def _report(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        if self.report_answers:
            return self.report_answers.pop(0)
        self.bodies.append(body)
        return 202, {"accepted": 1, "repeated": 0}, {}

    def _enrol(self, _body: bytes) -> tuple[int, Any, dict[str, str]]:
        return 201, {"token": "t" * 43}, {}

    def _issue(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        self.token_requests.append(body)
        if self.token_answers:
            return self.token_answers.pop(0)
        request = from_text(json.loads(body)["request"], REQUEST_BYTES) or b""
        signed = BlindSigner(TOKEN_SIGNING).sign(blinded_message_in(request, TOKEN_KEY))
        return 200, {"response": to_text(signed)}, {}

    def _relay(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        if self.relay_answers:
            return self.relay_answers.pop(0)
        self.relayed.append(body)
        return 202, {"accepted": 1}, {}

    def _opt_in(self, method: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        if self.opt_in_answers:
            return self.opt_in_answers.pop(0)
        if method == "DELETE":
            return 204, {}, {}
        self.uploads.append(body)
        return 201, {}, {}


class InProcess:
    """A transport to a stand-in without a network; answers get lost as it is told."""

    def __init__(self, service: StandIn, prefix: str = "") -> None:
        self.service, self.prefix = service, prefix
        self.lost: list[str] = []
        """Methods of requests that arrive and whose answer is lost, one after the other."""
        self.on_send: Callable[[str, str], None] = lambda _method, _path: None

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        self.on_send(method, path)
        self.service.requests.append((method, path, token))
        status, document, _ = self.service.answer(method, f"{self.prefix}/v1/{path}", body or b"")
        if method in self.lost:
            self.lost.remove(method)
            raise UnreachableError("the service cannot be reached; try again later")
        return require_good(Answer(status=status, content=json.dumps(document).encode()))

    def toward(self, url: str) -> "InProcess":
        """Return a transport to the relay of the stand-in."""
        assert url == "https://relay.example/"
        relay = InProcess(self.service, "/relay")
        relay.lost, relay.on_send = self.lost, self.on_send
        return relay


_CAMPAIGNS = [UUID(int=number) for number in range(1, 30)]


def problem(slug: str) -> dict[str, str]:
    return {"type": f"urn:blender-dp:problem:{slug}", "title": "x"}


@contextmanager
def standing_in() -> Iterator[StandIn]:
    """Run a stand-in on loopback."""
    service = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            service.requests.append((self.command, self.path, self.headers.get("Authorization")))
            if service.answers:
                status, document, extra = service.answers.pop(0)
            else:
                status, document, extra = service.answer(self.command, self.path, body)
            content = b"" if status == 204 else json.dumps(document).encode()
            self.send_response(status)
            for name, value in {**extra, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _reply  # noqa: N815 - names of the standard library

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Clock:
    """A clock that only tests move."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def pass_days(self, days: float) -> None:
        self.time += timedelta(days=days)
