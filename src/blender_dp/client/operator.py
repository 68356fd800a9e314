"""Operator's requests: create a campaign, move it, wait for the service's jobs."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from blender_dp.client.transport import ServiceRefusalError, Transport
from blender_dp.core.errors import BlenderError

STATES = (
    *("draft", "opt-in-open", "opt-in-sealed", "list-published"),
    *("clients-open", "clients-sealed", "released", "purged"),
)
_MOST_TOKENS_AT_ONCE = 10_000
_SECONDS_BETWEEN_LOOKS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Watches a campaign and, with a token, moves it."""

    transport: Transport
    token: str | None = field(repr=False)
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def create(self, campaign: Mapping[str, Any]) -> UUID:
        """Create a campaign in draft; a repeated request makes no second one."""
        drawn = uuid4()
        made = self._send("PUT", f"campaigns/{drawn}", campaign)
        if made.get("id") != str(drawn):
            raise BlenderError("the service created no campaign")
        return drawn

    def read(self, campaign: UUID) -> dict[str, Any]:
        """Return the public description and state of a campaign."""
        return self.transport.send("GET", f"campaigns/{campaign}").document("the campaign")

    def place(self, campaign: UUID) -> int:
        """Return the position of a campaign's state among all states."""
        state = self.read(campaign).get("state")
        if state not in STATES:
            raise BlenderError("the service names a state that this software does not know")
        return STATES.index(state)

    def move(self, campaign: UUID, move: str, *, origin: str) -> None:
        """Move a campaign forward, unless it has moved already."""
        try:
            self._post(f"campaigns/{campaign}/moves", {"move": move, "from": origin})
        except ServiceRefusalError as refusal:
            # The answer to an earlier attempt may have been lost.
            if refusal.status != 409 or self.place(campaign) <= STATES.index(origin):
                raise

    def wait_for(self, campaign: UUID, state: str, *, seconds: float) -> None:
        """Wait until a campaign is in this state or beyond; raise if a job failed."""
        until = self.now() + seconds
        while (place := self.place(campaign)) < STATES.index(state):
            self._require_no_failure(campaign)
            if self.now() > until:
                raise BlenderError(
                    f"the campaign is still {STATES[place]} after {seconds:g} seconds, not {state}"
                )
            self.sleep(_SECONDS_BETWEEN_LOOKS)
        if STATES[place] == "purged":
            raise BlenderError("the campaign was purged")

    def enrolment_tokens(self, campaign: UUID, count: int) -> list[str]:
        """Create tokens for people who will opt in, or who ask for a report token."""
        tokens: list[str] = []
        while len(tokens) < count:
            wanted = min(count - len(tokens), _MOST_TOKENS_AT_ONCE)
            made = self._post(f"campaigns/{campaign}/enrolments", {"count": wanted})["tokens"]
            tokens += made
        return tokens

    def _require_no_failure(self, campaign: UUID) -> None:
        if self.token is None:
            return
        answer = self.transport.send("GET", f"campaigns/{campaign}/progress", token=self.token)
        jobs = answer.document("the progress").get("jobs", [])
        for job in {job.get("kind"): job for job in jobs}.values():  # a later one is a retry
            if job.get("state") == "failed":
                raise BlenderError(f"the job {job.get('kind')} failed: {job.get('failure')}")

    def _post(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        return self._send("POST", path, document)

    def _send(self, method: str, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        body = json.dumps(document).encode()
        answer = self.transport.send(method, path, body=body, token=self.token)
        return answer.document("the answer")
