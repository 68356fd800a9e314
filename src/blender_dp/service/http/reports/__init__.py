"""The route that takes reports."""
