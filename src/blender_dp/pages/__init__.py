"""Offline HTML pages and the output files of a run."""
