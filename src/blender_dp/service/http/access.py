"""Access to the API: roles, tokens (only digests are stored) and rate limits."""

import hashlib
import hmac
import ipaddress
import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Token
from blender_dp.wire.reports.packed_items import from_text, to_text

TOKEN_BYTES = 32
_MOST_ADDRESSES = 100_000
"""Most addresses in memory; beyond that, addresses with a full bucket are dropped."""


class Role(StrEnum):
    """Permissions of a token's holder."""

    OPERATOR = "operator"
    """May do everything: create campaigns and move them."""
    ANALYST = "analyst"
    """May read progress and use the planner."""
    AUDITOR = "auditor"
    """May do what an analyst may, and read the audit log."""


ANY_ROLE = frozenset(Role)
OPERATORS = frozenset({Role.OPERATOR})
AUDITORS = frozenset({Role.OPERATOR, Role.AUDITOR})


def new_token(random_bytes: Callable[[int], bytes]) -> str:
    """Draw a token of 256 random bits."""
    return to_text(random_bytes(TOKEN_BYTES))


def token_digest(token: str) -> bytes:
    """Return the digest of a token, which is what the store keeps."""
    return hashlib.sha256(token.encode()).digest()


def bearer(authorization: str | None) -> str:
    """Return the token of an Authorization header."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Problem.TOKEN_MISSING.error()
    if from_text(token, TOKEN_BYTES) is None:
        raise Problem.TOKEN_UNKNOWN.error()
    return token


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often one address may do something: ``burst`` at once, then ``per_second``."""

    burst: int
    per_second: float


class RateLimit:
    """A bucket for every address, in memory; an IPv6 network of 64 bits counts as one address."""

    def __init__(self, rate: Rate, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._now = rate, now
        self._buckets: dict[str, tuple[float, float]] = {}

    def left(self, address: str) -> float:
        """Return the number of requests that an address may make now."""
        level, then = self._buckets.get(_network(address), (float(self._rate.burst), self._now()))
        return min(level + (self._now() - then) * self._rate.per_second, float(self._rate.burst))

    def take(self, address: str) -> None:
        """Count one request of an address, or refuse it."""
        self.require(address)
        self._buckets[_network(address)] = (self.left(address) - 1, self._now())
        if len(self._buckets) > _MOST_ADDRESSES:
            self._forget()

    def require(self, address: str) -> None:
        """Refuse an address that has nothing left."""
        left = self.left(address)
        if left < 1:
            seconds = math.ceil((1 - left) / self._rate.per_second)
            raise Problem.TOO_MANY_REQUESTS.error(retry_after=max(seconds, 1))

    def _forget(self) -> None:
        burst = self._rate.burst
        full = [address for address in self._buckets if self.left(address) >= burst]
        for address in full or list(self._buckets)[: _MOST_ADDRESSES // 2]:
            del self._buckets[address]


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class Authenticator:
    """Checks tokens, and limits wrong tokens per address."""

    def __init__(self, store: DatabaseStore, wrong_tokens: RateLimit) -> None:
        self._store, self._wrong = store, wrong_tokens

    async def admit(
        self, authorization: str | None, address: str, roles: Collection[Role]
    ) -> Token:
        """Return the token of a request if its role is one of these.

        Wrong tokens count against their address. A valid token is always accepted: a person who
        guesses tokens must not lock out other people with the same address.
        """
        digest = token_digest(bearer(authorization))
        token = await self._store.token(digest)
        # Looked up by digest: the time of a lookup may leak a part of a digest, never of a token.
        if token is None or not hmac.compare_digest(token.digest, digest):
            raise self.wrong_token(address)
        if token.role not in roles:
            raise Problem.ROLE_NOT_ENOUGH.error()
        return token

    def wrong_token(self, address: str) -> ProblemError:
        """Count a wrong token and return the refusal; after many it asks the client to wait."""
        try:
            self._wrong.take(address)
        except ProblemError as too_many:
            return too_many
        return Problem.TOKEN_UNKNOWN.error()
