"""Attacks on the collection service over HTTP, and their effect on honest clients."""
