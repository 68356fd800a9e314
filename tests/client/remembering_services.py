"""Two addresses of services, and a relay, that remember everything they were ever sent."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

from client.stand_in import (
    CONSENT,
    KEY,
    LOCAL_ALG,
    SHARP,
    START,
    head_list,
    problem,
    relay_at,
    relay_description,
)

from blender_dp.client.transport import Answer, UnreachableError, require_good
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.channels.report_cost import report_cost
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.service.hash_chain import entry
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.service.signed_log import log_document

ADDRESSES = ("https://a.example", "https://b.example")
CAMPAIGNS = tuple(UUID(int=number) for number in range(1, 4))
RELAYED = RelayMechanism(
    epsilon=0.5, delta=1e-6, report_epsilon=2.5, least_batch=2000, dishonest=0.2
)
LISTS = {
    campaign: replace(
        head_list(queries=2, mechanism=LOCAL_ALG if campaign.int == 3 else SHARP), relay=RELAYED
    )
    for campaign in CAMPAIGNS
}
RELAY = relay_at()
DESCRIPTIONS: dict[UUID, dict[str, Any]] = {
    campaign: {
        "id": str(campaign),
        "consent": {"version": "1", "text": CONSENT},
        "parameters": {"epsilon": "2.0", "delta": "1e-05"},
        "relay": relay_description(RELAY, RELAYED),
    }
    for campaign in CAMPAIGNS
}
COSTS = {campaign: report_cost(listed) for campaign, listed in LISTS.items()}
RELAY_COST = report_cost(LISTS[CAMPAIGNS[0]].for_relay())
"""ε0 of a relayed report to any campaign."""


def _documents() -> tuple[dict[UUID, dict[str, Any]], list[dict[str, Any]]]:
    """Return a signed list for each campaign, and the log that has them all."""
    log: list[dict[str, Any]] = []
    signed = {}
    for campaign, listed in LISTS.items():
        document = head_list_document(listed)
        last = log[-1] if log else None
        log.append(
            entry(last, kind="head-list", campaign=campaign, digest=document["digest"], time=START)
        )
        described = digest_of(DESCRIPTIONS[campaign])
        signed[campaign] = signed_head_list_document(
            document, log[-1], campaign=campaign, description=described, key=KEY, relay=RELAY
        )
    return signed, log


SIGNED, LOG = _documents()
PIECES = {f"log?from={i}": json.dumps(log_document(LOG[i:], KEY)).encode() for i in range(len(LOG))}


class Services:
    """Two addresses, all that they were ever sent, and how the next request fares."""

    def __init__(self) -> None:
        self.reports: dict[UUID, set[bytes]] = {}
        self.relayed: dict[UUID, set[bytes]] = {}
        self.contributions: dict[UUID, set[tuple[str, str, bytes]]] = {}
        """By campaign: address, token, bytes."""
        self.withdrawn: dict[UUID, set[tuple[str, str]]] = {}
        self.state = "opt-in-open"
        self.mishap = "none"
        self.tokens = 0

    def answer(
        self, address: str, method: str, path: str, body: bytes, token: str | None
    ) -> tuple[int, bytes]:
        if path.startswith("log"):
            return 200, PIECES[path]
        campaign, _, place = path.removeprefix("campaigns/").partition("/")
        name = UUID(campaign)
        if (method, place) == ("GET", "head-list"):
            return 200, json.dumps(SIGNED[name]).encode()
        if (method, place) == ("POST", "reports"):
            received = self.relayed if address == RELAY.address else self.reports
            received.setdefault(name, set()).add(body)
        elif (method, place) == ("POST", "enrol"):
            self.tokens += 1
            return 201, json.dumps({"token": f"token{self.tokens}"}).encode()
        elif place == "opt-in":
            assert token is not None
            if method == "DELETE" and not self.mishap.isdigit():
                self.withdrawn.setdefault(name, set()).add((address, token))
            elif method == "POST":
                self.contributions.setdefault(name, set()).add((address, token, body))
        else:
            shown = {"state": self.state, "description": DESCRIPTIONS[name]}
            return 200, json.dumps(shown).encode()
        return 202, b"{}"


class Connection:
    """A transport to one address, on which a request or an answer may get lost."""

    def __init__(self, services: Services, address: str) -> None:
        self.services, self.address = services, address

    def toward(self, url: str) -> "Connection":
        return Connection(self.services, url)

    def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        mishap = "none" if method == "GET" else self.services.mishap
        if mishap == "request lost":
            raise UnreachableError("the service cannot be reached; try again later")
        status, content = self.services.answer(self.address, method, path, body or b"", token)
        if mishap == "answer lost":
            raise UnreachableError("the service cannot be reached; try again later")
        if mishap.isdigit():  # what it was sent, a service may have kept even so
            status, content = int(mishap), json.dumps(problem("x")).encode()
        return require_good(Answer(status=status, content=content))
