"""Reports in one SQLite file, without a database server."""
