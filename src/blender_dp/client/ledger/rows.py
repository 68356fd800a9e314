"""Rows of a device's ledger: what it sent, by campaign and role, with the costs."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Literal
from uuid import UUID

from blender_dp.core.errors import BlenderError
from blender_dp.wire.documents.times import read_time, written_time

Role = Literal["report", "relayed", "contribution"]
"""The groups of a campaign (local clients, relay clients, opt-in users); a person is in one."""
RowState = Literal["unsent", "sent", "refused", "uncertain", "withdrawn", "forgotten"]
"""A contribution is unsent, sent or withdrawn; a report, relayed or not, is anything but withdrawn.

An uncertain report was refused after an attempt without an answer, which may have arrived.
"""
EnrolmentState = Literal["enrolled", "contributed", "withdrawn"]
_COLUMNS = (
    "campaign, role, service, epsilon, delta, relay_epsilon, time, state, list_digest, relay, body"
)


_FOREIGN = "the ledger has content that this software did not write; nothing was sent"


class LedgerError(BlenderError):
    """The ledger cannot be read or written, and so nothing was drawn or sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """Report or contribution of this device to a campaign; at most one per role."""

    campaign: UUID
    role: Role = "report"
    service: str
    epsilon: str
    """ε that is debited from the budget of the window."""
    delta: str
    relay_epsilon: str = "0"
    """ε0 of a relayed report: what relay and collector could learn from it together."""
    time: datetime
    list_digest: str | None = None
    """Digest of the list that a report answers."""
    relay: str | None = None
    """Address of the relay that a relayed report is sent to."""
    body: bytes = field(repr=False)
    """Bytes of a report; for a contribution only the SHA-256 of its token and its bytes."""
    state: RowState = "unsent"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptToken:
    """Report token of a campaign, or the request for it while there was no answer."""

    secret: bytes = field(repr=False)
    """What the request is made from; empty once the token is there."""
    report_after: datetime
    """A report with this token is not sent before; drawn at random when the token came."""
    token: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """Right to contribute to a campaign or to get a report token, and its state."""

    campaign: UUID
    service: str
    """Service that issued the token; it is sent to no other service."""
    token: str = field(repr=False)
    given_at: datetime | None
    """Time of the consent, stored because a repeated upload must be identical."""
    state: EnrolmentState


def find_token(database: sqlite3.Connection, campaign: UUID) -> KeptToken | None:
    """Return the token of a campaign, or the request for it."""
    found = database.execute(
        "SELECT secret, report_after, token FROM tokens WHERE campaign = ?", (str(campaign),)
    ).fetchone()
    if found is None:
        return None
    secret, report_after, token = found
    when = read_time(report_after)
    if when is None:
        raise LedgerError(_FOREIGN)
    return KeptToken(secret=secret, report_after=when, token=token)


def insert_token(database: sqlite3.Connection, campaign: UUID, kept: KeptToken) -> None:
    """Write the request for a token."""
    database.execute(
        "INSERT INTO tokens VALUES (?, ?, ?, ?)",
        (str(campaign), kept.secret, written_time(kept.report_after), kept.token),
    )


def costs_since(rows: Iterable[LedgerRow], start: datetime) -> tuple[Fraction, Fraction]:
    """Add up the ε of all rows younger than ``start``, and their δ except that of local reports.

    A row exactly as old as the window no longer counts; a row from the future does. The δ of a
    local report is not added: its debited ε is that of the whole channel, with δ = 0.
    """
    counted = _younger_rows(rows, start)
    delta = sum((Fraction(row.delta) for row in counted if row.role != "report"), Fraction())
    return sum((Fraction(row.epsilon) for row in counted), Fraction()), delta


def relay_cost_since(rows: Iterable[LedgerRow], start: datetime) -> Fraction:
    """Add up the ε0 of all relayed reports younger than ``start``."""
    counted = _younger_rows(rows, start)
    return sum((Fraction(row.relay_epsilon) for row in counted), Fraction())


def _younger_rows(rows: Iterable[LedgerRow], start: datetime) -> list[LedgerRow]:
    return [row for row in rows if row.time > start]


def insert_row(database: sqlite3.Connection, row: LedgerRow) -> None:
    """Write a new row."""
    database.execute(
        f"INSERT INTO debits ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own
        (
            *(str(row.campaign), row.role, row.service, row.epsilon, row.delta),
            *(row.relay_epsilon, written_time(row.time), row.state, row.list_digest),
            *(row.relay, row.body),
        ),
    )


def select_rows(database: sqlite3.Connection) -> list[LedgerRow]:
    """Return every row, oldest first."""
    statement = f"SELECT {_COLUMNS} FROM debits ORDER BY time, campaign, role"  # noqa: S608 - our own
    return [_row(found) for found in database.execute(statement).fetchall()]


def find_row(database: sqlite3.Connection, campaign: UUID, role: Role) -> LedgerRow | None:
    """Return the row of a campaign in one role."""
    found = database.execute(
        f"SELECT {_COLUMNS} FROM debits WHERE campaign = ? AND role = ?",  # noqa: S608 - our own
        (str(campaign), role),
    ).fetchone()
    return None if found is None else _row(found)


_Found = tuple[str, Role, str, str, str, str, str, RowState, str | None, str | None, bytes]


def _row(found: _Found) -> LedgerRow:
    campaign, role, service, epsilon, delta, relay_epsilon = found[:6]
    time, state, list_digest, relay, body = found[6:]
    when = read_time(time)
    if when is None:
        raise LedgerError(_FOREIGN)
    return LedgerRow(
        campaign=UUID(campaign),
        role=role,
        service=service,
        epsilon=epsilon,
        delta=delta,
        relay_epsilon=relay_epsilon,
        time=when,
        list_digest=list_digest,
        relay=relay,
        body=body,
        state=state,
    )
