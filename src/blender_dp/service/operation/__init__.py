"""What an operator sees: health, metrics, log lines."""
