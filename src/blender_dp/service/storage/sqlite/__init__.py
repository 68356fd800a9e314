"""Campaigns in one SQLite file, without a database server."""
