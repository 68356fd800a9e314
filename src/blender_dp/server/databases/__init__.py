"""Databases of a server process: connections, statements and migrations."""
