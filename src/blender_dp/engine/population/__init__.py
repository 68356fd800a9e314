"""Counts of users and records for the five steps, on any engine."""
