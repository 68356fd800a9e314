-- Times are text in UTC, 2026-11-15T12:00:00.000000Z, so that earlier ones sort first.

CREATE TABLE campaigns (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- in the order of creation; what other tables refer to
    id TEXT NOT NULL UNIQUE,                                 -- UUID, the name in every address
    description TEXT NOT NULL,                               -- JSON: what no move changes
    state TEXT NOT NULL,                                     -- where it stands
    moved_at TEXT NOT NULL                                   -- since when
);

CREATE TABLE enrolments (
    campaign BIGINT NOT NULL REFERENCES campaigns (number),  -- whose
    digest BYTEA NOT NULL,                                   -- SHA-256 of the enrolment token
    -- Whether the holder came, and whether they left again.
    status TEXT NOT NULL CHECK (status IN ('enrolled', 'contributed', 'withdrawn')),
    consent_version TEXT,                                    -- the receipt: which text was agreed to,
    consent_digest TEXT,                                     -- its digest,
    consent_given_at TEXT,                                   -- and when
    PRIMARY KEY (campaign, digest)
);

CREATE INDEX enrolments_by_status ON enrolments (campaign, status);

CREATE TABLE contributions (
    campaign BIGINT NOT NULL,                                -- to which campaign
    enrolment BYTEA NOT NULL,                                -- whose
    sealed BYTEA NOT NULL,                                   -- records, encrypted under the campaign's key
    tag BYTEA NOT NULL,                                      -- keyed tag of the content: tells a repetition
    PRIMARY KEY (campaign, enrolment),
    FOREIGN KEY (campaign, enrolment) REFERENCES enrolments (campaign, digest)
);

CREATE TABLE report_ids (
    campaign BIGINT NOT NULL,                                -- no foreign key: it would be checked for every report
    id BYTEA NOT NULL,                                       -- 16 random bytes that the device drew
    tag BYTEA NOT NULL,                                      -- 8 bytes, keyed tag of the content
    PRIMARY KEY (campaign, id)
);

CREATE TABLE questions (
    campaign BIGINT NOT NULL REFERENCES campaigns (number),  -- whose
    question TEXT NOT NULL,                                  -- record or query
    size BIGINT NOT NULL,                                    -- how many cells, or queries, the list has
    PRIMARY KEY (campaign, question)
);

CREATE TABLE counters (
    campaign BIGINT NOT NULL REFERENCES campaigns (number),  -- whose
    question TEXT NOT NULL,                                  -- record or query
    writer TEXT NOT NULL,                                    -- who adds to this row; the sum over writers counts
    reports BIGINT NOT NULL,                                 -- how many reports
    counts BYTEA NOT NULL,                                   -- how often each item was named: 64 bits each, low byte first
    PRIMARY KEY (campaign, question, writer)
) WITH (fillfactor = 50);

-- Counts change with every commit: to compress them each time would cost more than it saves.
ALTER TABLE counters ALTER COLUMN counts SET STORAGE EXTERNAL;

CREATE TABLE refusals (
    campaign BIGINT NOT NULL REFERENCES campaigns (number),  -- whose
    reason TEXT NOT NULL,                                    -- slug of the problem
    requests BIGINT NOT NULL,                                -- how many were refused for it
    PRIMARY KEY (campaign, reason)
);

CREATE TABLE documents (
    campaign BIGINT NOT NULL REFERENCES campaigns (number),  -- whose
    kind TEXT NOT NULL,                                      -- head-list, release and so on
    content BYTEA NOT NULL,                                  -- the bytes that are sent
    PRIMARY KEY (campaign, kind)
);

CREATE TABLE chain_heads (
    chain TEXT PRIMARY KEY,                                  -- public or audit
    last_entry TEXT                                          -- JSON; null while the log is empty
);

INSERT INTO chain_heads (chain) VALUES ('public'), ('audit');

CREATE TABLE log_entries (
    chain TEXT NOT NULL REFERENCES chain_heads (chain),      -- public or audit
    position BIGINT NOT NULL,                                -- 0, 1, 2, ...
    entry TEXT NOT NULL,                                     -- JSON
    PRIMARY KEY (chain, position)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION 'log entries never change'; END $$;

CREATE TRIGGER log_entries_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON log_entries
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE jobs (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,      -- in the order of creation
    campaign BIGINT NOT NULL REFERENCES campaigns (number),  -- whose
    kind TEXT NOT NULL,                                      -- head-list, release or erase
    state TEXT NOT NULL,                                     -- waiting, running, done or failed
    attempts BIGINT NOT NULL,                                -- how often it was leased; fences off earlier holders
    failure TEXT,                                            -- code of why it failed
    owner TEXT,                                              -- who holds the lease
    lease_until TEXT                                         -- until when
);

CREATE INDEX jobs_of_campaign ON jobs (campaign);

CREATE TABLE tokens (
    name TEXT PRIMARY KEY,                                   -- whom the audit log names
    role TEXT NOT NULL,                                      -- operator, analyst or auditor
    digest BYTEA NOT NULL UNIQUE,                            -- SHA-256 of the secret
    created_at TEXT NOT NULL,                                -- since when it is valid
    revoked_at TEXT                                          -- null while it is valid
);
