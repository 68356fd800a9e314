"""Attacks on the running code: the largest ε that draws alone can prove."""
