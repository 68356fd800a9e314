"""Report of a device: numbers of a head list, never a text."""

from dataclasses import dataclass
from typing import Literal

Question = Literal["record", "query"]
"""What a client was asked for; decided without looking at its data."""
Layout = Literal["cell", "items"]
"""How reports are written: the number of one cell, or a question and packed numbers of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One client's report, randomised already."""

    question: Question
    items: tuple[int, ...]
    """The cells named if asked for the record, the queries named if asked for the query.

    Strictly increasing; LocalAlg names one cell.
    """
