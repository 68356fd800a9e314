"""Report of a device: numbers of a head list, never a text."""

from dataclasses import dataclass
from typing import Literal

Question = Literal["record", "query"]
"""Question to a client, chosen independently of its data."""
Layout = Literal["cell", "items"]
"""Format of reports: the number of one cell, or a question and packed numbers of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One client's randomised report."""

    question: Question
    items: tuple[int, ...]
    """Named cells if the question is the record, named queries if it is the query. Strictly
    increasing; LocalAlg names one cell.
    """
