"""Attacks on the running code, which prove lower bounds on its ε from draws alone."""
