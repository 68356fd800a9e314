"""Rows of a device's ledger: reports and contributions by campaign and role, with their costs."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Literal
from uuid import UUID

from blender_dp.core.errors import BlenderError
from blender_dp.wire.documents.times import read_time, written_time

Role = Literal["report", "contribution"]
"""The two groups of a campaign; a person is in one of them."""
RowState = Literal["unsent", "sent", "refused", "uncertain", "withdrawn", "forgotten"]
"""A contribution is unsent, sent or withdrawn; a report is anything but withdrawn.

An uncertain report was refused after an attempt without an answer, which may have arrived.
"""
EnrolmentState = Literal["enrolled", "contributed", "withdrawn"]
_COLUMNS = "campaign, role, service, epsilon, delta, time, state, list_digest, body"


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
    time: datetime
    list_digest: str | None = None
    """Digest of the list that a report answers."""
    body: bytes = field(repr=False)
    """Bytes of a report; for a contribution only the SHA-256 of its token and its bytes."""
    state: RowState = "unsent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """Right to contribute to a campaign, and its state."""

    campaign: UUID
    service: str
    """Service that issued the token; it is sent to no other service."""
    token: str = field(repr=False)
    given_at: datetime | None
    """Time of the consent, stored because a repeated upload must be identical."""
    state: EnrolmentState


def costs_since(rows: Iterable[LedgerRow], start: datetime) -> tuple[Fraction, Fraction]:
    """Add up the ε of all rows younger than ``start`` and the δ of such contributions.

    A row exactly as old as the window no longer counts; a row from the future does. The δ of a
    report is not added: its debited ε is that of the whole channel, with δ = 0.
    """
    counted = [row for row in rows if row.time > start]
    delta = sum((Fraction(row.delta) for row in counted if row.role == "contribution"), Fraction())
    return sum((Fraction(row.epsilon) for row in counted), Fraction()), delta


def insert_row(database: sqlite3.Connection, row: LedgerRow) -> None:
    """Write a new row."""
    database.execute(
        f"INSERT INTO debits ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own
        (
            *(str(row.campaign), row.role, row.service, row.epsilon, row.delta),
            *(written_time(row.time), row.state, row.list_digest, row.body),
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


def _row(
    found: tuple[str, Role, str, str, str, str, RowState, str | None, bytes],
) -> LedgerRow:
    campaign, role, service, epsilon, delta, time, state, list_digest, body = found
    when = read_time(time)
    if when is None:
        raise LedgerError(
            "the ledger has content that this software did not write; nothing was sent"
        )
    return LedgerRow(
        campaign=UUID(campaign),
        role=role,
        service=service,
        epsilon=epsilon,
        delta=delta,
        time=when,
        list_digest=list_digest,
        body=body,
        state=state,
    )
