"""Unpacking of what DuckDB cannot read itself, and recognition of content by its first bytes."""
