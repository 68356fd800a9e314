"""Whole list: what its released numbers tell about users; it stays when the list is trimmed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeList:
    """Four numbers about the opt-in users' records, computed from the list before it is trimmed."""

    record_concentration: float
    """In (0, 1]: Σ f_i(r)² over Σ f_i(r), listed records r; 1 with one record a user (conc)."""
    query_concentration: float
    """From that to 1: the same with a user's share of a query (concq)."""
    value_ratio: float
    """D over E where both are large; 1 in the laplace branch (kap)."""
    ratio_variance: float
    """Relative variance of a record's own ratio beyond noise; 0 in the laplace branch (om2)."""
