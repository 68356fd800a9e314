CREATE TABLE relayed_batches (
    campaign INTEGER PRIMARY KEY REFERENCES campaigns (number),-- whose
    -- Whether it is still waited for, and if not what became of it.
    state TEXT NOT NULL CHECK (state IN ('waiting', 'complete', 'destroyed', 'absent')),
    statement TEXT,                                          -- JSON, signed by the relay; null while it said nothing
    counted INTEGER                                          -- how many of its reports the release counts
) STRICT;

CREATE TABLE relayed_pieces (
    campaign INTEGER NOT NULL,                               -- whose
    piece BLOB NOT NULL,                                     -- its number: 4 bytes, highest first
    encrypted BLOB NOT NULL,                                 -- its reports, one after the other
    PRIMARY KEY (campaign, piece)
) STRICT;
