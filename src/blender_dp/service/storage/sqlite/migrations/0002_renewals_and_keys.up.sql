-- A mark that the holder of a job changes while it lives, instead of a time: clocks may jump.
ALTER TABLE jobs RENAME COLUMN lease_until TO renewal;

CREATE TABLE key_directory (
    number INTEGER PRIMARY KEY CHECK (number = 1),           -- there is one row
    fingerprint TEXT NOT NULL                                -- digest of the public signing key in it
) STRICT;
