"""Campaigns in PostgreSQL, for several service processes at once."""
