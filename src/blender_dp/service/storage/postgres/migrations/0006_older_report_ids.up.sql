-- Stays empty: only SQLite moves ids here. Both databases have the same tables.
CREATE TABLE older_report_ids (
    campaign BIGINT NOT NULL,                                -- whose
    bundle BYTEA NOT NULL,                                   -- what names it
    reports BYTEA NOT NULL,                                  -- ids and tags
    PRIMARY KEY (campaign, bundle)
);
