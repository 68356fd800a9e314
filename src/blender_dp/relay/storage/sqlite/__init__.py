"""Tables of reports in one SQLite file, without a database server."""
