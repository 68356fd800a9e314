-- Campaigns whose signed head list names a key of this issuer. Nothing here has a time.
CREATE TABLE campaigns (
    number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    issued BIGINT NOT NULL, -- people who got a token; stays when they are deleted
    is_ended INTEGER NOT NULL, -- 1 once the collection is closed and the people are deleted
    is_scrubbed INTEGER NOT NULL -- 1 once remains of deleted rows are overwritten
);

-- Who got a token.
CREATE TABLE issued_tokens (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),
    person BYTEA NOT NULL, -- keyed hash of the login's subject; the key is a file of the campaign
    request BYTEA NOT NULL, -- SHA-256 of the request that is signed for them; no other one is
    PRIMARY KEY (campaign, person)
);

-- The collector's signing key: that of the first list that was read, or of --collector-key.
CREATE TABLE collector (public_key TEXT NOT NULL);
