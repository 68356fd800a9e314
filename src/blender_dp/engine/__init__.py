"""Search logs in, counts out."""
