DROP TABLE key_directory;

ALTER TABLE jobs RENAME COLUMN renewal TO lease_until;
