"""Measures of how good an estimate is, compared with the truth."""
