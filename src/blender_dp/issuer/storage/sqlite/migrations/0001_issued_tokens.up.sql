-- Campaigns whose signed head list names a key of this issuer. Nothing here has a time.
CREATE TABLE campaigns (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    issued INTEGER NOT NULL, -- people who got a token; stays when they are deleted
    is_ended INTEGER NOT NULL, -- 1 once the collection is closed and the people are deleted
    is_scrubbed INTEGER NOT NULL -- 1 once remains of deleted rows are overwritten
) STRICT;

-- Who got a token. Without row numbers, so in no order of issuing.
CREATE TABLE issued_tokens (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),
    person BLOB NOT NULL, -- keyed hash of the login's subject; the key is a file of the campaign
    request BLOB NOT NULL, -- SHA-256 of the request that is signed for them; no other one is
    PRIMARY KEY (campaign, person)
) STRICT, WITHOUT ROWID;

-- The collector's signing key: that of the first list that was read, or of --collector-key.
CREATE TABLE collector (public_key TEXT NOT NULL) STRICT;
