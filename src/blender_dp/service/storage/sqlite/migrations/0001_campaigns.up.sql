-- Times are text in UTC, 2026-11-15T12:00:00.000000Z, so that earlier ones sort first.

CREATE TABLE campaigns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,                -- in the order of creation; what other tables refer to
    id TEXT NOT NULL UNIQUE,                                 -- UUID, the name in every address
    description TEXT NOT NULL,                               -- JSON: what no move changes
    state TEXT NOT NULL,                                     -- where it stands
    moved_at TEXT NOT NULL                                   -- since when
) STRICT;

CREATE TABLE enrolments (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),-- whose
    digest BLOB NOT NULL,                                    -- SHA-256 of the enrolment token
    -- Whether the holder came, and whether they left again.
    status TEXT NOT NULL CHECK (status IN ('enrolled', 'contributed', 'withdrawn')),
    consent_version TEXT,                                    -- the receipt: which text was agreed to,
    consent_digest TEXT,                                     -- its digest,
    consent_given_at TEXT,                                   -- and when
    PRIMARY KEY (campaign, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX enrolments_by_status ON enrolments (campaign, status);

CREATE TABLE contributions (
    campaign INTEGER NOT NULL,                               -- to which campaign
    enrolment BLOB NOT NULL,                                 -- whose
    sealed BLOB NOT NULL,                                    -- records, encrypted under the campaign's key
    tag BLOB NOT NULL,                                       -- keyed tag of the content: tells a repetition
    PRIMARY KEY (campaign, enrolment),
    FOREIGN KEY (campaign, enrolment) REFERENCES enrolments (campaign, digest)
) STRICT;

CREATE TABLE report_ids (
    campaign INTEGER NOT NULL,                               -- no foreign key: it would be checked for every report
    id BLOB NOT NULL,                                        -- 16 random bytes that the device drew
    tag BLOB NOT NULL,                                       -- 8 bytes, keyed tag of the content
    PRIMARY KEY (campaign, id)
) STRICT, WITHOUT ROWID;  -- no row number, so no order of arrival

CREATE TABLE questions (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),-- whose
    question TEXT NOT NULL,                                  -- record or query
    size INTEGER NOT NULL,                                   -- how many cells, or queries, the list has
    PRIMARY KEY (campaign, question)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),-- whose
    question TEXT NOT NULL,                                  -- record or query
    writer TEXT NOT NULL,                                    -- who adds to this row; the sum over writers counts
    reports INTEGER NOT NULL,                                -- how many reports
    counts BLOB NOT NULL,                                    -- how often each item was named: 64 bits each, low byte first
    PRIMARY KEY (campaign, question, writer)
) STRICT;

CREATE TABLE refusals (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),-- whose
    reason TEXT NOT NULL,                                    -- slug of the problem
    requests INTEGER NOT NULL,                               -- how many were refused for it
    PRIMARY KEY (campaign, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),-- whose
    kind TEXT NOT NULL,                                      -- head-list, release and so on
    content BLOB NOT NULL,                                   -- the bytes that are sent
    PRIMARY KEY (campaign, kind)
) STRICT;

CREATE TABLE chain_heads (
    chain TEXT PRIMARY KEY,                                  -- public or audit
    last_entry TEXT                                          -- JSON; null while the log is empty
) STRICT;

INSERT INTO chain_heads (chain) VALUES ('public'), ('audit');

CREATE TABLE log_entries (
    chain TEXT NOT NULL REFERENCES chain_heads (chain),      -- public or audit
    position INTEGER NOT NULL,                               -- 0, 1, 2, ...
    entry TEXT NOT NULL,                                     -- JSON
    PRIMARY KEY (chain, position)
) STRICT;

CREATE TRIGGER log_entries_never_change BEFORE UPDATE ON log_entries
BEGIN SELECT RAISE(ABORT, 'log entries never change'); END;

CREATE TRIGGER log_entries_never_go BEFORE DELETE ON log_entries
BEGIN SELECT RAISE(ABORT, 'log entries never change'); END;

CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,                    -- in the order of creation
    campaign INTEGER NOT NULL REFERENCES campaigns (number),-- whose
    kind TEXT NOT NULL,                                      -- head-list, release or erase
    state TEXT NOT NULL,                                     -- waiting, running, done or failed
    attempts INTEGER NOT NULL,                               -- how often it was leased; fences off earlier holders
    failure TEXT,                                            -- code of why it failed
    owner TEXT,                                              -- who holds the lease
    lease_until TEXT                                         -- until when
) STRICT;

CREATE INDEX jobs_of_campaign ON jobs (campaign);

CREATE TABLE tokens (
    name TEXT PRIMARY KEY,                                   -- whom the audit log names
    role TEXT NOT NULL,                                      -- operator, analyst or auditor
    digest BLOB NOT NULL UNIQUE,                             -- SHA-256 of the secret
    created_at TEXT NOT NULL,                                -- since when it is valid
    revoked_at TEXT                                          -- null while it is valid
) STRICT;
