CREATE TABLE issued_tokens (
    campaign INTEGER NOT NULL,                               -- whose
    enrolment BLOB NOT NULL,                                 -- who asked: SHA-256 of the enrolment token
    request BLOB NOT NULL,                                   -- SHA-256 of the request that is signed for them; no other one is
    PRIMARY KEY (campaign, enrolment)
) STRICT, WITHOUT ROWID;  -- no row number, so no order of issuing
