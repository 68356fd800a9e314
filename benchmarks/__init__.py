"""Benchmarks: speed and memory compared with peers and lower bounds, in one run on one machine."""
