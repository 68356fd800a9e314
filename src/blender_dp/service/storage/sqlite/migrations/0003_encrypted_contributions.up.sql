-- "Sealed" is the word for a side that takes no more uploads; these records are encrypted.
ALTER TABLE contributions RENAME COLUMN sealed TO encrypted;
