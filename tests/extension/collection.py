"""A real service on this machine, an operator, and all the other people of a campaign."""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import numpy as np

from blender_dp.client.crowd.many_reports import report_bodies
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.wire.reports.service_report import MOST_REPORTS
from blender_dp.wire.service.contribution import (
    ConsentReceipt,
    Contribution,
    consent_digest,
    contribution_document,
)
from blender_dp.wire.service.signed_head_list import read_signed_head_list

CONSENT = "We count your searches together with those of many others, and then delete them."
TOWN = "Popular searches of a town"
_PATIENCE = 60
"""Seconds until something that should happen counts as not happening."""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something is so, but not forever."""
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """One campaign, as its operator sees it."""

    service: str
    token: str
    campaign: str

    @property
    def invitation(self) -> str:
        """The address of its documents."""
        return f"{self.service}/v1/campaigns/{self.campaign}"

    @property
    def share_page(self) -> str:
        """The link that people are given."""
        return f"{self.service}/join/{self.campaign}"

    @property
    def dashboard_page(self) -> str:
        """The address that an operator sees."""
        return f"{self.service}/#/campaigns/{self.campaign}"

    @property
    def port(self) -> int:
        """Where the service listens."""
        return int(self.service.rpartition(":")[2])

    def get(self, what: str = "") -> Any:
        """Read something of the campaign."""
        return self._asked("GET", what)

    def post(self, what: str, document: Any) -> Any:
        """Write something to the campaign."""
        return self._asked("POST", what, json=document)

    def move(self, move: str, origin: str, then: str) -> None:
        """Move the campaign on and wait for the jobs that follow."""
        self.post("/moves", {"move": move, "from": origin})
        wait_for(lambda: self._is(then), f"{move} to {then}")

    def _is(self, state: str) -> bool:
        failed = [job for job in self.get("/progress")["jobs"] if job["state"] == "failed"]
        assert not failed, failed
        return bool(self.get()["state"] == state)

    def _asked(self, method: str, what: str, **body: Any) -> Any:
        headers = {"authorization": f"Bearer {self.token}"}
        answer = httpx.request(method, self.invitation + what, headers=headers, timeout=30, **body)
        assert answer.is_success, answer.text
        return answer.json()


def new_campaign(service: str, token: str, name: str = TOWN, **changes: Any) -> Collection:
    """Make a campaign that takes contributions from anybody, unless something is changed."""
    wanted = {
        "name": name,
        "purpose": "To suggest what many people look for, on every device and offline.",
        "controller": "A town library",
        "contact": "privacy@library.example",
        "privacy_policy": "https://library.example/privacy",
        "consent": {"version": "1", "text": CONSENT},
        "parameters": {"epsilon": 4, "delta": 1e-5},
        "expected_clients": 6000,
        "open_enrolment": True,
        **changes,
    }
    headers = {"authorization": f"Bearer {token}"}
    answer = httpx.post(f"{service}/v1/campaigns", json=wanted, headers=headers, timeout=30)
    assert answer.status_code == 201, answer.text
    collection = Collection(service=service, token=token, campaign=answer.json()["id"])
    collection.move("open-opt-in", "draft", then="opt-in-open")
    return collection


def contribute(collection: Collection, people: Sequence[Record]) -> None:
    """Let many people opt in with a record each."""
    tokens = collection.post("/enrolments", {"count": len(people)})["tokens"]
    receipt = ConsentReceipt(
        version="1", text_digest=consent_digest(CONSENT), given_at=datetime.now(UTC)
    )
    address = f"{collection.invitation}/opt-in"
    with httpx.Client(timeout=30) as client, ThreadPoolExecutor(8) as pool:

        def upload(record: Record, token: str) -> int:
            body = contribution_document(Contribution(consent=receipt, records=[record]))
            headers = {"authorization": f"Bearer {token}"}
            return client.post(address, json=body, headers=headers).status_code

        assert set(pool.map(upload, people, tokens)) == {201}


def report(collection: Collection, people: Sequence[Record]) -> None:
    """Let many clients report privately, in one request."""
    head_list = read_signed_head_list(collection.get("/head-list")).head_list
    index = head_list.cell_index()
    cells = np.array([index.cell(record.query, record.url) for record in people])
    for _, body in report_bodies(cells, head_list, Randomness.secure(), batch=MOST_REPORTS):
        collection.post("/reports", json.loads(body))
