"""Suggestions for what a person types, from a release, on the person's own device."""
