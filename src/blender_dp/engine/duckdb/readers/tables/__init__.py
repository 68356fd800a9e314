"""Readers of files whose columns have names and types: Arrow, ORC, JSON, tables in databases."""
