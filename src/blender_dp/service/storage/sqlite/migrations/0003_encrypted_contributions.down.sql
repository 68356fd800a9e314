ALTER TABLE contributions RENAME COLUMN encrypted TO sealed;
