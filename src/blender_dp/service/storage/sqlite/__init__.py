"""Campaigns in one SQLite file: no other process is needed."""
