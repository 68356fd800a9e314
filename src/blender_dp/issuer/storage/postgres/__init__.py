"""Tables of issued tokens on a PostgreSQL server."""
