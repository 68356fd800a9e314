"""Tables of issued tokens in one SQLite file, without a database server."""
