-- A mark that the holder of a job changes while it lives, instead of a time: clocks may jump.
ALTER TABLE jobs RENAME COLUMN lease_until TO renewal;

CREATE TABLE key_directory (
    number BIGINT PRIMARY KEY CHECK (number = 1),            -- there is one row
    fingerprint TEXT NOT NULL                                -- digest of the public signing key in it
);

-- PostgreSQL keeps samples of columns as statistics, and keeps them when the rows are gone.
ALTER TABLE enrolments ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE enrolments ALTER COLUMN consent_digest SET STATISTICS 0;
ALTER TABLE enrolments ALTER COLUMN consent_given_at SET STATISTICS 0;
ALTER TABLE contributions ALTER COLUMN enrolment SET STATISTICS 0;
ALTER TABLE contributions ALTER COLUMN sealed SET STATISTICS 0;
ALTER TABLE contributions ALTER COLUMN tag SET STATISTICS 0;
ALTER TABLE report_ids ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE report_ids ALTER COLUMN tag SET STATISTICS 0;
