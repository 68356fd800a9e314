"""SQL statements of the store, one file per subject, the same for every database."""
