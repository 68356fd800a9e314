"""What a device has spent and must not draw again: one small SQLite file.

A report is drawn and written in one transaction that no other process can share: whatever dies,
either nothing was drawn that anybody saw, or the drawn bytes are here to be sent again.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Literal
from uuid import UUID

from blender_dp.client.policy import History
from blender_dp.core.errors import BlenderError
from blender_dp.wire.sqlite_file import create_private_file
from blender_dp.wire.times import read_time, written_time

SCHEMA_VERSION = 1
_FILE = "ledger.sqlite"
_SCHEMA = """
CREATE TABLE services (url TEXT PRIMARY KEY, public_key TEXT NOT NULL);
CREATE TABLE lists (campaign TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE reports (
    campaign TEXT PRIMARY KEY, service TEXT NOT NULL, list_digest TEXT NOT NULL,
    body BLOB NOT NULL, epsilon TEXT NOT NULL, time TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE enrolments (
    campaign TEXT PRIMARY KEY, token TEXT NOT NULL, given_at TEXT, state TEXT NOT NULL);
"""
_SECONDS_FOR_A_TURN = 60.0
"""How long to wait while another process writes."""

ReportState = Literal["unsent", "sent", "refused"]
EnrolmentState = Literal["enrolled", "contributed", "withdrawn"]


class LedgerError(BlenderError):
    """The ledger cannot be read or written, and so nothing was drawn or sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReport:
    """The one report to a campaign."""

    campaign: UUID
    service: str
    list_digest: str
    body: bytes
    epsilon: str
    time: datetime
    state: ReportState = "unsent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """The right to contribute to a campaign, and what became of it."""

    campaign: UUID
    token: str = field(repr=False)
    given_at: datetime | None
    """When the consent was given: a repeated upload must be the same to the letter."""
    state: EnrolmentState


class Ledger:
    """The file of one device."""

    def __init__(self, directory: Path, checkpoint: Callable[[str], None]) -> None:
        """Open or make the ledger in ``directory``.

        Args:
            directory: Only its owner may read it afterwards.
            checkpoint: Is told which point was reached; for tests that stop there.
        """
        self._path, self._checkpoint = directory / _FILE, checkpoint
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            create_private_file(self._path)
        except OSError as error:
            raise LedgerError(f"{self._path}: cannot be written ({error.strerror})") from None
        with self._transaction() as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version != SCHEMA_VERSION:
                raise LedgerError(f"{self._path}: was made by another version of this software")

    def record_once(
        self,
        campaign: UUID,
        service: str,
        since: datetime,
        draw: Callable[[History], tuple[KeptReport, str]],
    ) -> KeptReport:
        """Return the campaign's report, drawn now if there is none yet.

        Args:
            campaign: Which campaign.
            service: Its address.
            since: Reports from then on count as spent.
            draw: Given the history, refuses or returns a report and the key of its list's signer.
        """
        with self._transaction() as database:
            if kept := _report(database, campaign):
                return kept
            made, public_key = draw(_history(database, campaign, service, since))
            self._checkpoint("after-draw")
            database.execute(
                "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(str(made.campaign), made.service, made.list_digest, made.body),
                    *(made.epsilon, written_time(made.time), made.state),
                ),
            )
            _remember(database, service, public_key, campaign, made.list_digest)
            self._checkpoint("before-commit")
        self._checkpoint("after-commit")
        return made

    def remember(
        self,
        campaign: UUID,
        service: str,
        since: datetime,
        accept: Callable[[History], tuple[str, str]],
    ) -> None:
        """Note the key and the digest of a list that ``accept`` does not refuse."""
        with self._transaction() as database:
            public_key, digest = accept(_history(database, campaign, service, since))
            _remember(database, service, public_key, campaign, digest)

    def set_state(self, campaign: UUID, state: ReportState) -> None:
        """Note what became of a report."""
        with self._transaction() as database:
            database.execute(
                "UPDATE reports SET state = ? WHERE campaign = ?", (state, str(campaign))
            )

    def report(self, campaign: UUID) -> KeptReport | None:
        """Return the campaign's report if one was drawn."""
        with self._transaction() as database:
            return _report(database, campaign)

    def reports(self) -> list[KeptReport]:
        """Return every report, oldest first."""
        with self._transaction() as database:
            rows = database.execute("SELECT * FROM reports ORDER BY time, campaign").fetchall()
        return [_kept(row) for row in rows]

    def enrolment(self, campaign: UUID) -> Enrolment | None:
        """Return the enrolment in a campaign."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT token, given_at, state FROM enrolments WHERE campaign = ?", (str(campaign),)
            ).fetchone()
        if row is None:
            return None
        return Enrolment(campaign=campaign, token=row[0], given_at=read_time(row[1]), state=row[2])

    def keep_enrolment(self, enrolment: Enrolment) -> None:
        """Write an enrolment, new or changed."""
        given_at = enrolment.given_at
        with self._transaction() as database:
            database.execute(
                "REPLACE INTO enrolments VALUES (?, ?, ?, ?)",
                (
                    *(str(enrolment.campaign), enrolment.token),
                    *(None if given_at is None else written_time(given_at), enrolment.state),
                ),
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the file to nobody else, and have it on the disk at the end, or unchanged."""
        try:
            with closing(
                sqlite3.connect(self._path, timeout=_SECONDS_FOR_A_TURN, isolation_level=None)
            ) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerError(f"{self._path}: the ledger cannot be used ({error})") from None


def spent_since(reports: Iterator[tuple[str, str]], start: datetime) -> Fraction:
    """Add up the ε of reports, given as ε and time, from a time on.

    Times are compared as they were written; a report from the future counts.
    """
    return sum(
        (Fraction(epsilon) for epsilon, time in reports if time >= written_time(start)), Fraction()
    )


def _history(
    database: sqlite3.Connection, campaign: UUID, service: str, start: datetime
) -> History:
    def value(statement: str, key: str) -> str | None:
        row = database.execute(statement, (key,)).fetchone()
        return None if row is None else row[0]

    spent = database.execute("SELECT epsilon, time FROM reports")
    last = value("SELECT max(time) FROM reports WHERE service = ?", service)
    return History(
        public_key=value("SELECT public_key FROM services WHERE url = ?", service),
        list_digest=value("SELECT digest FROM lists WHERE campaign = ?", str(campaign)),
        spent=spent_since(spent, start),
        last_report=read_time(last),
    )


def _remember(
    database: sqlite3.Connection, service: str, public_key: str, campaign: UUID, digest: str
) -> None:
    database.execute("INSERT OR IGNORE INTO services VALUES (?, ?)", (service, public_key))
    database.execute("INSERT OR IGNORE INTO lists VALUES (?, ?)", (str(campaign), digest))


def _report(database: sqlite3.Connection, campaign: UUID) -> KeptReport | None:
    row = database.execute("SELECT * FROM reports WHERE campaign = ?", (str(campaign),)).fetchone()
    return None if row is None else _kept(row)


def _kept(row: tuple[str, str, str, bytes, str, str, ReportState]) -> KeptReport:
    campaign, service, list_digest, body, epsilon, time, state = row
    when = read_time(time)
    if when is None:
        raise LedgerError("the ledger holds what this software never wrote; nothing was sent")
    return KeptReport(
        campaign=UUID(campaign),
        service=service,
        list_digest=list_digest,
        body=body,
        epsilon=epsilon,
        time=when,
        state=state,
    )
