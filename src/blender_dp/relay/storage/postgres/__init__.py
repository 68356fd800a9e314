"""Reports on a PostgreSQL server."""
