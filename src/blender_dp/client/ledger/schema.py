"""Tables of a device's ledger, and the steps from earlier versions to this one."""

import sqlite3

SCHEMA_VERSION = 5
_TABLES = """
CREATE TABLE services (url TEXT PRIMARY KEY, public_key TEXT NOT NULL);
CREATE TABLE logs (public_key TEXT PRIMARY KEY, head TEXT NOT NULL);
CREATE TABLE campaigns (
    campaign TEXT PRIMARY KEY, description TEXT, list_digest TEXT, signed_list BLOB);
CREATE TABLE debits (
    campaign TEXT NOT NULL, role TEXT NOT NULL, service TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, time TEXT NOT NULL, state TEXT NOT NULL,
    list_digest TEXT, body BLOB NOT NULL, unanswered INTEGER NOT NULL DEFAULT 0,
    relay_epsilon TEXT NOT NULL DEFAULT '0', relay TEXT,
    PRIMARY KEY (campaign, role));
CREATE TABLE enrolments (
    campaign TEXT PRIMARY KEY, service TEXT NOT NULL, token TEXT NOT NULL, given_at TEXT,
    state TEXT NOT NULL);
CREATE TABLE tokens (
    campaign TEXT PRIMARY KEY, secret BLOB NOT NULL, report_after TEXT NOT NULL, token BLOB);
"""
_FROM_VERSION_1 = """
ALTER TABLE services RENAME TO services_1;
ALTER TABLE enrolments RENAME TO enrolments_1;
"""
_MOVED_FROM_VERSION_1 = """
INSERT INTO services SELECT url, public_key FROM services_1;
INSERT INTO campaigns (campaign, list_digest) SELECT campaign, digest FROM lists;
INSERT INTO debits (campaign, role, service, epsilon, delta, time, state, list_digest, body)
    SELECT campaign, 'report', service, epsilon, '0', time, state, list_digest, body FROM reports;
INSERT INTO enrolments SELECT campaign, '', token, given_at, state FROM enrolments_1;
INSERT INTO debits (campaign, role, service, epsilon, delta, time, state, body)
    SELECT campaign, 'contribution', '', '0', '0', given_at,
        CASE state WHEN 'contributed' THEN 'sent' WHEN 'withdrawn' THEN 'withdrawn'
            ELSE 'unsent' END, x''
    FROM enrolments_1 WHERE given_at IS NOT NULL;
DROP TABLE services_1;
DROP TABLE enrolments_1;
DROP TABLE lists;
DROP TABLE reports;
"""
"""Version 1 stored neither δ nor the cost of contributions: both become 0. A consent that was
given may have been followed by an upload, so it becomes a contribution."""

_FROM_VERSION_2 = "ALTER TABLE debits ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0"
_MAYBE_ARRIVED = "UPDATE debits SET unanswered = 1 WHERE role = 'report' AND state = 'unsent'"
"""Earlier versions did not store attempts without an answer."""

_FROM_VERSION_3 = """
ALTER TABLE debits ADD COLUMN relay_epsilon TEXT NOT NULL DEFAULT '0';
ALTER TABLE debits ADD COLUMN relay TEXT
"""
_FROM_VERSION_4 = """
CREATE TABLE tokens (
    campaign TEXT PRIMARY KEY, secret BLOB NOT NULL, report_after TEXT NOT NULL, token BLOB)
"""


def prepare(database: sqlite3.Connection) -> bool:
    """Make the tables of a new ledger, or move those of an earlier version; False if unknown.

    Args:
        database: Connection inside a transaction, so that a ledger has exactly one version.
    """
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version == SCHEMA_VERSION:
        return True
    steps = {
        0: (_TABLES,),
        1: (_FROM_VERSION_1, _TABLES, _MOVED_FROM_VERSION_1, _MAYBE_ARRIVED),
        2: (_FROM_VERSION_2, _MAYBE_ARRIVED, _FROM_VERSION_3, _FROM_VERSION_4),
        3: (_FROM_VERSION_3, _FROM_VERSION_4),
        4: (_FROM_VERSION_4,),
    }.get(version)
    if steps is None:
        return False
    for step in steps:
        for statement in step.split(";"):
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    return True
