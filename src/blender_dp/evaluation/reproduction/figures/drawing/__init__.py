"""Drawings and the page of all figures."""
