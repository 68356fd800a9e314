"""Counts of users and records that the five steps ask for, on any engine."""
