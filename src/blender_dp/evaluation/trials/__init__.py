"""Repeated trials on one log, and their scores."""
