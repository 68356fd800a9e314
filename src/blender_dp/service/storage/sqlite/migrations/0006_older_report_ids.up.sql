CREATE TABLE older_report_ids (
    campaign INTEGER NOT NULL,                               -- whose
    bundle BLOB NOT NULL,                                    -- 8 random bytes for all that moved together, then its place: 4 bytes, highest first
    reports BLOB NOT NULL,                                   -- id and tag of up to 40 reports, 24 bytes each, in the order of ids
    PRIMARY KEY (campaign, bundle)
) STRICT, WITHOUT ROWID;  -- no row number, so no order of arrival
