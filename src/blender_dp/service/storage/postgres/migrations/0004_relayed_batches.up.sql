CREATE TABLE relayed_batches (
    campaign BIGINT PRIMARY KEY REFERENCES campaigns (number),-- whose
    -- Whether it is still waited for, and if not what became of it.
    state TEXT NOT NULL CHECK (state IN ('waiting', 'complete', 'destroyed', 'absent')),
    statement TEXT,                                          -- JSON, signed by the relay; null while it said nothing
    counted BIGINT                                           -- how many of its reports the release counts
);

CREATE TABLE relayed_pieces (
    campaign BIGINT NOT NULL,                                -- whose
    piece BYTEA NOT NULL,                                    -- its number: 4 bytes, highest first
    encrypted BYTEA NOT NULL,                                -- its reports, one after the other
    PRIMARY KEY (campaign, piece)
);

-- Encrypted bytes cannot be compressed, and no sample of them is kept.
ALTER TABLE relayed_pieces ALTER COLUMN encrypted SET STORAGE EXTERNAL;
ALTER TABLE relayed_pieces ALTER COLUMN encrypted SET STATISTICS 0;
