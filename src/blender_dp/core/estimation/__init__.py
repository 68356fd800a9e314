"""Estimates of probabilities, tests on them, and the release they end in."""
