"""A ledger of an earlier version becomes one of this version, with everything that it held."""

import sqlite3
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import pytest

from blender_dp.client.ledger.ledger import Ledger
from blender_dp.client.ledger.rows import LedgerError
from blender_dp.client.ledger.schema import SCHEMA_VERSION

VERSION_1 = """
CREATE TABLE services (url TEXT PRIMARY KEY, public_key TEXT NOT NULL);
CREATE TABLE lists (campaign TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE reports (
    campaign TEXT PRIMARY KEY, service TEXT NOT NULL, list_digest TEXT NOT NULL,
    body BLOB NOT NULL, epsilon TEXT NOT NULL, time TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE enrolments (
    campaign TEXT PRIMARY KEY, token TEXT NOT NULL, given_at TEXT, state TEXT NOT NULL);
PRAGMA user_version = 1;
"""
TIME = "2026-11-15T12:00:00Z"
SERVICE = "https://a.example"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    database = sqlite3.connect(tmp_path / "ledger.sqlite")
    database.executescript(VERSION_1)
    database.execute("INSERT INTO services VALUES (?, 'key')", (SERVICE,))
    database.execute("INSERT INTO lists VALUES (?, 'digest')", (str(UUID(int=1)),))
    for number, state in ((1, "sent"), (2, "unsent"), (3, "refused")):
        row = (str(UUID(int=number)), SERVICE, "digest", b"bytes", "5/2", TIME, state)
        database.execute("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    enrolled = (
        (4, None, "enrolled"),
        (5, TIME, "enrolled"),
        (6, TIME, "contributed"),
        (7, TIME, "withdrawn"),
    )
    for number, given_at, state in enrolled:
        row4 = (str(UUID(int=number)), f"token {number}", given_at, state)
        database.execute("INSERT INTO enrolments VALUES (?, ?, ?, ?)", row4)
    database.commit()
    database.close()
    return tmp_path


def nothing(_: str) -> None:
    """Take no note."""


def test_everything_is_kept(old: Path) -> None:
    ledger = Ledger(old, nothing)
    rows = {(row.campaign.int, row.role): row for row in ledger.rows()}
    assert {key: row.state for key, row in rows.items()} == {
        (1, "report"): "sent",
        (2, "report"): "unsent",
        (3, "report"): "refused",
        (5, "contribution"): "unsent",
        (6, "contribution"): "sent",
        (7, "contribution"): "withdrawn",
    }
    first = rows[1, "report"]
    assert (first.epsilon, first.delta, first.body) == ("5/2", "0", b"bytes")
    assert (first.service, first.list_digest) == (SERVICE, "digest")
    history = ledger.history(UUID(int=1), SERVICE, LONG_AGO)
    assert (history.public_key, history.list_digest) == ("key", "digest")
    assert (history.description, history.spent) == (None, Fraction(15, 2))
    for number in (4, 5, 6, 7):
        kept = ledger.enrolment(UUID(int=number))
        assert kept is not None
        assert kept.token == f"token {number}"
    ledger.end_report(UUID(int=2), "report")
    assert [row.state for row in ledger.rows() if row.campaign.int == 2] == ["uncertain"]


def test_the_step_is_made_once(old: Path) -> None:
    before = Ledger(old, nothing).rows()
    assert Ledger(old, nothing).rows() == before
    database = sqlite3.connect(old / "ledger.sqlite")
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    version = database.execute("PRAGMA user_version").fetchone()[0]
    database.close()
    assert not names & {"reports", "lists", "services_1", "enrolments_1"}
    assert version == SCHEMA_VERSION


def test_a_step_that_fails_leaves_the_old_ledger(old: Path) -> None:
    database = sqlite3.connect(old / "ledger.sqlite")
    database.execute("DROP TABLE lists")
    database.commit()
    with pytest.raises(LedgerError):
        Ledger(old, nothing)
    assert database.execute("SELECT count(*) FROM reports").fetchone() == (3,)
    assert database.execute("PRAGMA user_version").fetchone() == (1,)
    database.close()


def test_version_2_takes_unsent_reports_for_tried(old: Path) -> None:
    """It did not note attempts without an answer: what is refused now may have arrived before."""
    Ledger(old, nothing)
    database = sqlite3.connect(old / "ledger.sqlite")
    for name in ("unanswered", "relay_epsilon", "relay"):
        database.execute(f"ALTER TABLE debits DROP COLUMN {name}")
    database.execute("DROP TABLE tokens")
    database.execute("PRAGMA user_version = 2")
    database.commit()
    database.close()
    ledger = Ledger(old, nothing)
    ledger.end_report(UUID(int=2), "report")
    states = {row.campaign.int: row.state for row in ledger.rows() if row.role == "report"}
    assert states == {1: "sent", 2: "uncertain", 3: "refused"}


def test_version_3_gets_the_columns_of_a_relay(old: Path) -> None:
    """Its reports went to no relay, and relay and collector learnt nothing from them together."""
    before = Ledger(old, nothing).rows()
    database = sqlite3.connect(old / "ledger.sqlite")
    for name in ("relay_epsilon", "relay"):
        database.execute(f"ALTER TABLE debits DROP COLUMN {name}")
    database.execute("DROP TABLE tokens")
    database.execute("PRAGMA user_version = 3")
    database.commit()
    database.close()
    ledger = Ledger(old, nothing)
    assert ledger.rows() == before
    assert {(row.relay_epsilon, row.relay) for row in before} == {("0", None)}
    assert ledger.history(UUID(int=1), SERVICE, LONG_AGO).spent_relay == 0


def test_version_4_gets_a_place_for_tokens(old: Path) -> None:
    before = Ledger(old, nothing).rows()
    database = sqlite3.connect(old / "ledger.sqlite")
    database.execute("DROP TABLE tokens")
    database.execute("PRAGMA user_version = 4")
    database.commit()
    database.close()
    ledger = Ledger(old, nothing)
    assert ledger.rows() == before
    assert ledger.token(UUID(int=1)) is None
