"""The cluster engine: Spark tables and readers of log files."""
