"""The embedded engine: DuckDB tables and readers of log files."""
