"""Tables of reports on a PostgreSQL server."""
