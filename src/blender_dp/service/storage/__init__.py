"""Storage of campaigns: SQLite or PostgreSQL."""
