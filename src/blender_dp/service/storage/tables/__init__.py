"""One file a subject: the statements behind a store, the same for every database."""
