"""Ledger of a device in a small SQLite file: costs, and reports that must not be drawn again.

A campaign has one row for each role, written before anything is sent and never deleted. A report is
drawn and written in one exclusive transaction. After a crash, either no report was drawn and sent,
or the drawn bytes are stored here and can be sent again.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from blender_dp.client.ledger.ledger_file import LedgerFile
from blender_dp.client.ledger.rows import (
    Enrolment,
    EnrolmentState,
    LedgerRow,
    Role,
    RowState,
    costs_since,
    find_row,
    insert_row,
    relay_cost_since,
    select_rows,
)
from blender_dp.client.policy import History
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.documents.times import read_time, written_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A device's memory of a service and a campaign; None where nothing is known."""

    description: str
    """The digest of the campaign's description."""
    public_key: str | None = None
    list_digest: str | None = None
    signed_list: Mapping[str, Any] | None = None
    """The whole signed list, as evidence if other devices were shown another one."""
    log_head: Mapping[str, Any] | None = None
    """Last entry that was read from the public log."""


class Ledger(LedgerFile):
    """The file of one device."""

    def record_once(
        self,
        campaign: UUID,
        role: Role,
        service: str,
        since: datetime,
        make: Callable[[History], tuple[LedgerRow, Seen]],
    ) -> LedgerRow:
        """Return a campaign's row in a role; if there is none, make and write it now.

        Args:
            campaign: Id of the campaign.
            role: The group of the user.
            service: Address of the service.
            since: Younger rows count against the budget.
            make: Given the history, refuses, or returns a new row and the facts to remember.
        """
        with self._transaction() as database:
            if kept := find_row(database, campaign, role):
                return kept
            made, seen = make(_history(database, campaign, service, since))
            self._checkpoint("after-draw")
            insert_row(database, made)
            _remember(database, campaign, service, seen)
            self._checkpoint("before-commit")
        self._checkpoint("after-commit")
        return made

    def remember(
        self, campaign: UUID, service: str, since: datetime, accept: Callable[[History], Seen]
    ) -> None:
        """Store the facts seen about a campaign, unless ``accept`` refuses them."""
        with self._transaction() as database:
            seen = accept(_history(database, campaign, service, since))
            _remember(database, campaign, service, seen)

    def history(self, campaign: UUID, service: str, since: datetime) -> History:
        """Return the facts that the policy needs about a campaign."""
        with self._transaction() as database:
            return _history(database, campaign, service, since)

    def log_head(self, public_key: str) -> Mapping[str, Any] | None:
        """Return the last entry that was read of the log signed with this key."""
        with self._transaction() as database:
            return _log_head(database, public_key)

    def signed_list(self, campaign: UUID) -> dict[str, Any] | None:
        """Return the signed list that was reported against."""
        with self._transaction() as database:
            kept = _value(
                database, "SELECT signed_list FROM campaigns WHERE campaign = ?", str(campaign)
            )
        if kept is None:
            return None
        document: dict[str, Any] = json.loads(zlib.decompress(kept))
        return document

    def set_state(self, campaign: UUID, role: Role, state: RowState) -> None:
        """Set the state of a row."""
        with self._transaction() as database:
            database.execute(
                "UPDATE debits SET state = ? WHERE campaign = ? AND role = ?",
                (state, str(campaign), role),
            )

    def count_unanswered(self, campaign: UUID, role: Role, change: int) -> None:
        """Count an attempt to send a report in advance; uncount it when the answer arrives."""
        with self._transaction() as database:
            database.execute(
                "UPDATE debits SET unanswered = unanswered + ? WHERE campaign = ? AND role = ?",
                (change, str(campaign), role),
            )

    def end_report(self, campaign: UUID, role: Role) -> None:
        """Store a final refusal; it is uncertain if another attempt may have arrived."""
        with self._transaction() as database:
            database.execute(
                "UPDATE debits SET state ="
                " CASE WHEN unanswered > 0 THEN 'uncertain' ELSE 'refused' END"
                " WHERE campaign = ? AND role = ? AND state = 'unsent'",
                (str(campaign), role),
            )

    def row(self, campaign: UUID, role: Role) -> LedgerRow | None:
        """Return the row of a campaign in a role."""
        with self._transaction() as database:
            return find_row(database, campaign, role)

    def rows(self) -> list[LedgerRow]:
        """Return every row, oldest first."""
        with self._transaction() as database:
            return select_rows(database)

    def forget(self) -> None:
        """Delete the bytes of all reports, all tokens and all enrolments; the costs stay."""
        with self._transaction() as database:
            database.execute("DELETE FROM enrolments")
            database.execute("DELETE FROM tokens")
            database.execute(
                "UPDATE debits SET body = x'',"
                " state = CASE state WHEN 'unsent' THEN 'forgotten' ELSE state END"
                " WHERE role <> 'contribution'"
            )

    def enrolment(self, campaign: UUID) -> Enrolment | None:
        """Return the enrolment in a campaign."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT service, token, given_at, state FROM enrolments WHERE campaign = ?",
                (str(campaign),),
            ).fetchone()
        if row is None:
            return None
        service, token, given_at, state = row
        return Enrolment(
            campaign=campaign,
            service=service,
            token=token,
            given_at=read_time(given_at),
            state=state,
        )

    def keep_enrolment(self, enrolment: Enrolment) -> None:
        """Write a new enrolment, unless another process has enrolled or contributed.

        A contribution belongs to its token: with another one it could not be withdrawn.
        """
        campaign = str(enrolment.campaign)
        with self._transaction() as database:
            database.execute(
                "INSERT OR IGNORE INTO enrolments SELECT ?, ?, ?, NULL, ? WHERE NOT EXISTS"
                " (SELECT 1 FROM debits WHERE campaign = ? AND role = 'contribution')",
                (campaign, enrolment.service, enrolment.token, enrolment.state, campaign),
            )

    def consent(self, campaign: UUID, now: datetime) -> None:
        """Store the time of the consent, unless an earlier one is stored."""
        with self._transaction() as database:
            database.execute(
                "UPDATE enrolments SET given_at = ? WHERE campaign = ? AND given_at IS NULL",
                (written_time(now), str(campaign)),
            )

    def set_enrolment_state(self, campaign: UUID, state: EnrolmentState) -> None:
        """Set the state of an enrolment, unless it was forgotten."""
        with self._transaction() as database:
            database.execute(
                "UPDATE enrolments SET state = ? WHERE campaign = ?", (state, str(campaign))
            )


def _value(database: sqlite3.Connection, statement: str, key: str) -> Any:  # noqa: ANN401 - a cell
    row = database.execute(statement, (key,)).fetchone()
    return None if row is None else row[0]


def _history(
    database: sqlite3.Connection, campaign: UUID, service: str, start: datetime
) -> History:
    rows = select_rows(database)
    epsilon, delta = costs_since(rows, start)
    seen = database.execute(
        "SELECT description, list_digest FROM campaigns WHERE campaign = ?", (str(campaign),)
    ).fetchone()
    description, list_digest = seen or (None, None)
    return History(
        public_key=_value(database, "SELECT public_key FROM services WHERE url = ?", service),
        description=description,
        list_digest=list_digest,
        spent=epsilon,
        spent_delta=delta,
        spent_relay=relay_cost_since(rows, start),
        last_report=max(
            (row.time for row in rows if row.service == service and row.role != "contribution"),
            default=None,
        ),
        standing={row.role: row.state for row in rows if row.campaign == campaign},
    )


def _remember(database: sqlite3.Connection, campaign: UUID, service: str, seen: Seen) -> None:
    if seen.public_key is not None:
        database.execute("INSERT OR IGNORE INTO services VALUES (?, ?)", (service, seen.public_key))
    evidence = None if seen.signed_list is None else zlib.compress(canonical(seen.signed_list))
    database.execute(
        "INSERT INTO campaigns VALUES (?, ?, ?, ?) ON CONFLICT (campaign) DO UPDATE SET"
        " description = coalesce(description, excluded.description),"
        " list_digest = coalesce(list_digest, excluded.list_digest),"
        " signed_list = coalesce(signed_list, excluded.signed_list)",
        (str(campaign), seen.description, seen.list_digest, evidence),
    )
    if seen.public_key is not None and seen.log_head is not None:
        known = _log_head(database, seen.public_key)
        if known is None or known["index"] < seen.log_head["index"]:
            head = canonical(seen.log_head).decode()
            database.execute("REPLACE INTO logs VALUES (?, ?)", (seen.public_key, head))


def _log_head(database: sqlite3.Connection, public_key: str) -> Mapping[str, Any] | None:
    head = _value(database, "SELECT head FROM logs WHERE public_key = ?", public_key)
    if head is None:
        return None
    entry: Mapping[str, Any] = json.loads(head)
    return entry
