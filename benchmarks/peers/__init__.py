"""Peers: other methods on the same users with the same promise, measured the same way."""
