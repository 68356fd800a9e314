"""Operation: health, metrics and log lines."""
