-- Campaigns whose signed head list names this relay. Nothing here has a time.
CREATE TABLE campaigns (
    number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    head_list TEXT NOT NULL, -- digest of the signed list
    encryption_key TEXT NOT NULL, -- the collector's, of that list; reports with another are refused
    report_length INTEGER NOT NULL, -- bytes of every encrypted report
    least_batch BIGINT NOT NULL, -- no smaller batch is forwarded
    state TEXT NOT NULL, -- waiting, forwarding, forwarded or destroyed
    count BIGINT NOT NULL, -- reports that were stored; stays when they are deleted
    order_key BYTEA, -- decides the order of the batch; only while it is forwarded
    statement TEXT, -- what the relay signed about the batch
    is_told INTEGER NOT NULL, -- 1 once the collector has the statement
    is_scrubbed INTEGER NOT NULL -- 1 once remains of deleted reports are overwritten
);

-- Reports that were written together, or merged since; the random id keeps no order of arrival.
CREATE TABLE bundles (
    campaign INTEGER NOT NULL REFERENCES campaigns (number),
    level INTEGER NOT NULL, -- 0 for fewer than 16 reports, 1 for fewer than 256, 2 for fewer than 4,096, 3 for more
    id BYTEA NOT NULL,
    encrypted BYTEA NOT NULL, -- the ciphertexts one after the other, in the order of their bytes
    PRIMARY KEY (campaign, level, id)
);
ALTER TABLE bundles ALTER COLUMN encrypted SET STORAGE EXTERNAL; -- ciphertexts cannot be compressed

-- The collector's signing key: that of the first list that was read, or of --collector-key.
CREATE TABLE collector (public_key TEXT NOT NULL);
