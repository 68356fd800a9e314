"""Attacks on the collection service over HTTP, and what honest clients notice of them."""
