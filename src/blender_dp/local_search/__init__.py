"""Suggestions from a release while a person types, computed on the person's own device."""
