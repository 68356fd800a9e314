"""Exact noise and randomness: integers and fractions only, no floating-point numbers."""
