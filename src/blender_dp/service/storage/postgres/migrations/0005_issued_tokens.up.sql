CREATE TABLE issued_tokens (
    campaign BIGINT NOT NULL,                                -- whose
    enrolment BYTEA NOT NULL,                                -- who asked: SHA-256 of the enrolment token
    request BYTEA NOT NULL,                                  -- SHA-256 of the request that is signed for them; no other one is
    PRIMARY KEY (campaign, enrolment)
);

-- No sample of random bytes is kept.
ALTER TABLE issued_tokens ALTER COLUMN enrolment SET STATISTICS 0;
ALTER TABLE issued_tokens ALTER COLUMN request SET STATISTICS 0;
